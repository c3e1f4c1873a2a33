package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"
)

type device struct {
	Driver                   string                                                    `json:"driver"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
}

type expressionRow struct {
	ID         json.RawMessage `json:"id,omitempty"`
	Expression string          `json:"expression"`
	// Features are listTypeAttributes and consumableCapacity; one that this minor lacks is ignored.
	Features map[string]bool `json:"features"`
	// Env is "stored" (default, what the allocator uses) or "new" (what the API server admits).
	Env     string   `json:"env"`
	Devices []device `json:"devices"`
	// Derived asks for the value of a derived attribute instead of a match (1.37).
	Derived bool `json:"derived"`
}

type evaluation struct {
	Value *bool  `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
	// Attribute is the value of a derived attribute.
	Attribute *resourceapi.DeviceAttribute `json:"attribute,omitempty"`
	// Cost is what the evaluation really cost, where CEL says it.
	Cost *uint64 `json:"cost,omitempty"`
}

type expressionAnswer struct {
	ID           json.RawMessage `json:"id,omitempty"`
	InputError   string          `json:"inputError,omitempty"`
	CompileError string          `json:"compileError,omitempty"`
	Results      []evaluation    `json:"results,omitempty"`
	// MaxCost is the static bound, 18446744073709551615 if there is none.
	MaxCost    *uint64  `json:"maxCost,omitempty"`
	OutputType string   `json:"outputType,omitempty"`
	Dropped    []string `json:"dropped,omitempty"`
}

func answerExpression(line []byte) (any, bool) {
	return evaluateRow(line), true
}

func evaluateRow(line []byte) (answer expressionAnswer) {
	var row expressionRow
	dropped, err := decode(line, &row)
	answer = expressionAnswer{ID: row.ID, Dropped: dropped}
	// So that one strange expression doesn't end the process.
	defer func() {
		if r := recover(); r != nil {
			answer.InputError = fmt.Sprintf("panic: %v", r)
		}
	}()
	if err != nil {
		answer.InputError = err.Error()
		return answer
	}
	flags := map[string]bool{}
	for name, on := range row.Features {
		flags[strings.ToUpper(name[:1])+name[1:]] = on
	}
	options := cel.Options{}
	switch row.Env {
	case "", "stored":
	case "new":
		env := environment.NewExpressions
		options.EnvType = &env
	default:
		answer.InputError = "env must be stored or new, not " + row.Env
		return answer
	}
	if row.Derived {
		if err := deriveOption(&options); err != nil {
			answer.InputError = err.Error()
			return answer
		}
	}
	compiled := compiler(celFeatures(flags))(row.Expression, options)
	if compiled.Error != nil {
		answer.CompileError = compiled.Error.Error()
		return answer
	}
	answer.MaxCost = &compiled.MaxCost
	answer.OutputType = compiled.OutputType.String()
	answer.Results = make([]evaluation, len(row.Devices))
	for i, d := range row.Devices {
		answer.Results[i] = evaluate(compiled, d, row.Derived)
	}
	return answer
}

var compilers = map[cel.Features]func(string, cel.Options) cel.CompilationResult{}

// compiler keeps one for each set of features: upstream keeps only the last.
func compiler(features cel.Features) func(string, cel.Options) cel.CompilationResult {
	compile := compilers[features]
	if compile == nil {
		compile = cel.GetCompiler(features).CompileCELExpression
		compilers[features] = compile
	}
	return compile
}

func evaluate(compiled cel.CompilationResult, d device, derived bool) (result evaluation) {
	defer func() {
		if r := recover(); r != nil {
			result = evaluation{Error: fmt.Sprintf("panic: %v", r)}
		}
	}()
	input := cel.Device{Driver: d.Driver, AllowMultipleAllocations: d.AllowMultipleAllocations, Attributes: d.Attributes, Capacity: d.Capacity}
	if derived {
		attribute, err := derive(compiled, input)
		if err != nil {
			return evaluation{Error: err.Error()}
		}
		return evaluation{Attribute: attribute}
	}
	matches, details, err := compiled.DeviceMatches(context.Background(), input)
	if details != nil {
		result.Cost = details.ActualCost()
	}
	if err != nil {
		result.Error = err.Error()
		return result
	}
	result.Value = &matches
	return result
}
