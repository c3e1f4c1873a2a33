//go:build k8s137

package main

import (
	"context"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
)

func deriveOption(options *cel.Options) error {
	options.DerivedAttribute = true
	return nil
}

func derive(compiled cel.CompilationResult, input cel.Device) (*resourceapi.DeviceAttribute, error) {
	attribute, _, err := compiled.EvaluateDerivedAttribute(context.Background(), input)
	return attribute, err
}
