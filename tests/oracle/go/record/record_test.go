// Added by record.py to a copy of upstream's module, in the package of one allocator variant: upstream's own table tests
// then run through record, which writes each case and what the real allocator answers. The package name is set there.
package variant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/structured/internal"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

type recordedAllocator struct {
	internal.Allocator
	row  map[string]any
	make func() (internal.Allocator, error)
	// objects are the row's, for what JSON can't say about them.
	objects []any
}

// record wraps the construction of an allocator. What it returns answers as the real one, after having written the row.
func record(ctx context.Context, features internal.Features, state internal.AllocatedState, classes internal.DeviceClassLister,
	sliceObjects []*resourceapi.ResourceSlice, make func() (internal.Allocator, error)) (internal.Allocator, error) {
	real, err := make()
	if err != nil {
		return nil, err
	}
	classObjects, err := classes.List()
	if err != nil {
		return nil, err
	}
	on := map[string]bool{}
	flags := reflect.ValueOf(features)
	for i := range flags.NumField() {
		if flags.Field(i).Bool() {
			on[flags.Type().Field(i).Name] = true
		}
	}
	allocated, shared, consumed := []any{}, []any{}, []any{}
	for id := range state.AllocatedDevices {
		allocated = append(allocated, device(id, nil))
	}
	for id := range state.AllocatedSharedDeviceIDs {
		whole := internal.DeviceID{Driver: id.Driver, Pool: id.Pool, Device: id.Device}
		shared = append(shared, device(whole, map[string]any{"ShareID": id.ShareID.String()}))
	}
	for id, capacity := range state.AggregatedCapacity {
		consumed = append(consumed, device(id, map[string]any{"Consumed": capacity}))
	}
	recorded := &recordedAllocator{
		Allocator: real,
		make:      make,
		objects:   []any{sliceObjects, classObjects},
		row: map[string]any{
			"name": caseName(ctx), "channel": channel, "features": on, "classes": classObjects, "slices": sliceObjects,
			"allocated": sorted(allocated), "allocatedShared": sorted(shared), "consumed": sorted(consumed),
		},
	}
	if _, ok := real.(internal.AllocatorExtended); ok {
		return countedAllocator{recorded}, nil
	}
	return recorded, nil
}

// countedAllocator has the counter that some variants have: upstream's tests skip cases when it is missing.
type countedAllocator struct{ *recordedAllocator }

func (a countedAllocator) GetStats() internal.Stats {
	return a.Allocator.(internal.AllocatorExtended).GetStats()
}

func (a *recordedAllocator) Allocate(ctx context.Context, node *v1.Node, claims []*resourceapi.ResourceClaim) ([]resourceapi.AllocationResult, error) {
	a.row["claims"], a.row["node"] = claims, node
	if node == nil { // some cases of 1.34
		a.row["node"] = map[string]any{}
	}
	a.objects = append(a.objects, claims)
	if why := a.notReplayable(ctx); why != "" {
		a.row["notReplayable"] = why
	}
	runs, err := strconv.Atoi(os.Getenv("RECORD_RUNS"))
	if err != nil {
		panic(err)
	}
	seen := map[string]any{}
	var calls any
	for run := range runs {
		outcome, counted, err := a.once(ctx, node, claims)
		if err != nil {
			return nil, err
		}
		seen[encode(outcome)] = outcome
		if run == 0 {
			calls = counted
		} else if calls != counted {
			calls = nil
		}
	}
	keys := []string{}
	for key := range seen {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for key, value := range seen[keys[0]].(map[string]any) {
		a.row[key] = value
	}
	a.row["calls"] = calls
	if len(keys) > 1 {
		variants := []any{}
		for _, key := range keys {
			variants = append(variants, seen[key])
		}
		a.row["variants"] = variants
	}
	out, err := os.OpenFile(os.Getenv("RECORD_OUT"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer out.Close()
	if _, err := fmt.Fprintln(out, encode(a.row)); err != nil {
		panic(err)
	}
	return a.Allocator.Allocate(ctx, node, claims)
}

// once asks a new allocator, because one that is used again may keep caches.
func (a *recordedAllocator) once(ctx context.Context, node *v1.Node, claims []*resourceapi.ResourceClaim) (outcome map[string]any, calls any, err error) {
	allocator, err := a.make()
	if err != nil {
		return nil, nil, err
	}
	outcome = map[string]any{"results": nil, "error": nil, "errorKind": nil}
	defer func() {
		if r := recover(); r != nil {
			outcome["error"], outcome["errorKind"] = fmt.Sprintf("panic: %v", r), "panic"
		}
	}()
	results, allocateErr := allocator.Allocate(ctx, node, claims)
	if counted, ok := allocator.(internal.AllocatorExtended); ok {
		calls = counted.GetStats().NumAllocateOneInvocations
	}
	switch {
	case allocateErr == nil:
		renameShares(results)
		outcome["results"] = results
	case isNodeError(allocateErr):
		outcome["error"], outcome["errorKind"] = allocateErr.Error(), "node"
	default:
		outcome["error"], outcome["errorKind"] = allocateErr.Error(), "fatal"
	}
	return outcome, calls, nil
}

func device(id internal.DeviceID, more map[string]any) map[string]any {
	entry := map[string]any{"Driver": id.Driver.String(), "Pool": id.Pool.String(), "Device": id.Device.String()}
	for key, value := range more {
		entry[key] = value
	}
	return entry
}

func sorted(entries []any) []any {
	key := func(entry any) string {
		e := entry.(map[string]any)
		return fmt.Sprint(e["Driver"], "/", e["Pool"], "/", e["Device"], "/", e["ShareID"])
	}
	slices.SortFunc(entries, func(a, b any) int { return strings.Compare(key(a), key(b)) })
	return entries
}

// caseName takes the name of the running test from the logger in the context: the wrapper isn't given it.
func caseName(ctx context.Context) string {
	name := klog.FromContext(ctx).GetSink().(ktesting.Underlier).GetUnderlying().(testing.TB).Name()
	_, name, _ = strings.Cut(name, "/")
	return name
}

// encode sorts keys and drops what a Go struct writes although nobody set it.
func encode(value any) string {
	first, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(first))
	decoder.UseNumber() // counts beyond float64
	if err := decoder.Decode(&tree); err != nil {
		panic(err)
	}
	prune(tree, "")
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(tree); err != nil {
		panic(err)
	}
	return strings.TrimSpace(text.String())
}

func prune(tree any, parent string) {
	switch node := tree.(type) {
	case map[string]any:
		for key, value := range node {
			prune(value, key)
			if object, ok := value.(map[string]any); ok && len(object) == 0 && slices.Contains([]string{"status", "spec", "daemonEndpoints", "kubeletEndpoint"}, key) {
				delete(node, key)
			}
			if (key == "creationTimestamp" || key == "devices") && value == nil || key == "nodeInfo" || key == "Port" {
				delete(node, key)
			}
		}
	case []any:
		for _, value := range node {
			prune(value, parent)
		}
	}
	if node, ok := tree.(map[string]any); ok {
		for _, key := range []string{"daemonEndpoints", "status", "spec"} {
			if object, ok := node[key].(map[string]any); ok && len(object) == 0 {
				delete(node, key)
			}
		}
	}
}

func renameShares(results []resourceapi.AllocationResult) {
	names := map[types.UID]types.UID{}
	for i := range results {
		for j := range results[i].Devices.Results {
			result := &results[i].Devices.Results[j]
			if result.ShareID == nil {
				continue
			}
			name, ok := names[*result.ShareID]
			if !ok {
				name = types.UID(fmt.Sprintf("share-%d", len(names)))
				names[*result.ShareID] = name
			}
			result.ShareID = &name
		}
	}
}

// notReplayable says why the JSON of a case doesn't reproduce its answer.
func (a *recordedAllocator) notReplayable(ctx context.Context) string {
	if ctx.Err() != nil {
		return "the test cancels the context before the call"
	}
	why := ""
	for _, object := range a.objects {
		walk(reflect.ValueOf(object), func(value reflect.Value) {
			if quantity, ok := value.Interface().(resource.Quantity); ok {
				text := quantity.DeepCopy()
				if parsed := resource.MustParse(text.String()); parsed.Cmp(quantity) != 0 {
					number := quantity.AsDec().String()
					if strings.Contains(number, ".") {
						number = strings.TrimSuffix(strings.TrimRight(number, "0"), ".")
					}
					why = fmt.Sprintf("Go prints the quantity %s as %s", number, text.String())
				}
			}
			if attribute, ok := value.Interface().(resourceapi.DeviceAttribute); ok {
				fields := reflect.ValueOf(attribute)
				for i := range fields.NumField() {
					if field := fields.Field(i); field.Kind() == reflect.Slice && !field.IsNil() && field.Len() == 0 {
						why = "an attribute's empty list is lost in JSON"
					}
				}
			}
		})
	}
	return why
}

func walk(value reflect.Value, visit func(reflect.Value)) {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			walk(value.Elem(), visit)
		}
	case reflect.Slice:
		for i := range value.Len() {
			walk(value.Index(i), visit)
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			walk(value.MapIndex(key), visit)
		}
	case reflect.Struct:
		if value.CanInterface() {
			visit(value)
		}
		if value.Type() == reflect.TypeFor[resource.Quantity]() {
			return
		}
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() {
				walk(value.Field(i), visit)
			}
		}
	}
}
