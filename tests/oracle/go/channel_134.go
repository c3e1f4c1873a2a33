//go:build k8s134

package main

import (
	"context"
	"fmt"
	"maps"
	_ "unsafe" // for go:linkname

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// 1.34 has no EnableAllocators: its list of variants is narrowed instead.
//
//go:linkname availableAllocators k8s.io/dynamic-resource-allocation/structured.availableAllocators
var availableAllocators []struct {
	supportedFeatures structured.Features
	newAllocator      func(ctx context.Context,
		features structured.Features,
		allocatedState structured.AllocatedState,
		classLister structured.DeviceClassLister,
		slices []*resourceapi.ResourceSlice,
		celCache *cel.Cache,
	) (structured.Allocator, error)
}

// forceChannel leaves only one variant to choose from until restore is called; "" leaves the choice to upstream.
func forceChannel(name string) (restore func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	for i, known := range []string{"stable", "incubating", "experimental"} {
		if name == known {
			all := availableAllocators
			availableAllocators = all[i : i+1]
			return func() { availableAllocators = all }, nil
		}
	}
	return nil, fmt.Errorf("no such variant: %s", name)
}

// isNodeError: 1.34 has no errors that are for one node only.
func isNodeError(error) bool { return false }

// spelled writes the features as this minor has them: it has two switches for what became one in 1.35.
func spelled(features map[string]bool) map[string]bool {
	out := maps.Clone(features)
	if on, ok := out["DeviceBindingAndStatus"]; ok {
		delete(out, "DeviceBindingAndStatus")
		out["DeviceBinding"], out["DeviceStatus"] = on, on
	}
	return out
}
