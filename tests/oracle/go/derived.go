//go:build !k8s137

package main

import (
	"errors"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
)

var errNoDerived = errors.New("this release has no derived attributes")

func deriveOption(*cel.Options) error { return errNoDerived }

func derive(cel.CompilationResult, cel.Device) (*resourceapi.DeviceAttribute, error) {
	return nil, errNoDerived
}
