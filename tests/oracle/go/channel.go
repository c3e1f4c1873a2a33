//go:build !k8s134

package main

import (
	"errors"
	"fmt"

	"k8s.io/dynamic-resource-allocation/structured"
)

// forceChannel leaves only one variant to choose from until restore is called; "" leaves the choice to upstream.
func forceChannel(name string) (restore func(), err error) {
	switch name {
	case "":
		return func() {}, nil
	case "stable", "incubating", "experimental":
		structured.EnableAllocators(name)
		return func() { structured.EnableAllocators() }, nil
	}
	return nil, fmt.Errorf("no such variant: %s", name)
}

// isNodeError: the error rules out this node, not the whole scheduling attempt.
func isNodeError(err error) bool { return errors.Is(err, structured.ErrFailedAllocationOnNode) }

// spelled writes the features as this minor has them.
func spelled(features map[string]bool) map[string]bool { return features }
