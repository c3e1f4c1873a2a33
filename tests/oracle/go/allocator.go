package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"sort"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

const (
	defaultTimeout = 5 * time.Second
	// grace is what a search may take after its deadline before it counts as one that ignores deadlines.
	grace = time.Second
)

type deviceID struct{ Driver, Pool, Device string }

func (d deviceID) id() structured.DeviceID {
	return structured.MakeDeviceID(d.Driver, d.Pool, d.Device)
}

type sharedDevice struct {
	Driver, Pool, Device string
	ShareID              types.UID
}

type consumedDevice struct {
	Driver, Pool, Device string
	Consumed             map[resourceapi.QualifiedName]resource.Quantity
}

type allocationRow struct {
	ID              json.RawMessage              `json:"id,omitempty"`
	Name            string                       `json:"name,omitempty"`
	Features        map[string]bool              `json:"features"`
	CELFeatures     map[string]bool              `json:"celFeatures"`
	Node            *v1.Node                     `json:"node"`
	Claims          []*resourceapi.ResourceClaim `json:"claims"`
	Classes         []*resourceapi.DeviceClass   `json:"classes"`
	Slices          []*resourceapi.ResourceSlice `json:"slices"`
	Allocated       []deviceID                   `json:"allocated"`
	AllocatedShared []sharedDevice               `json:"allocatedShared"`
	Consumed        []consumedDevice             `json:"consumed"`
	Runs            int                          `json:"runs"`
	TimeoutSeconds  float64                      `json:"timeoutSeconds"`
	ForceChannel    string                       `json:"forceChannel"`
}

// outcome is what one call gives.
type outcome struct {
	Error     *string                        `json:"error"`
	ErrorKind *string                        `json:"errorKind"`
	Results   []resourceapi.AllocationResult `json:"results"`
}

type allocationAnswer struct {
	ID   json.RawMessage `json:"id,omitempty"`
	Name string          `json:"name,omitempty"`
	outcome
	Channel string `json:"channel"`
	// Calls is null where the variant doesn't count, or where runs disagree.
	Calls *int64 `json:"calls"`
	// Variants are all outcomes seen, sorted; absent if there is one only.
	Variants []json.RawMessage `json:"variants,omitempty"`
	// Dropped are fields of the row that this minor's API types don't have.
	Dropped []string `json:"dropped,omitempty"`
	Seconds float64  `json:"seconds"`
}

func failed(kind, text string) outcome { return outcome{Error: &text, ErrorKind: &kind} }

func answerAllocation(line []byte) (any, bool) {
	var row allocationRow
	answer := allocationAnswer{}
	dropped, err := decode(line, &row)
	if err == nil && row.Node == nil {
		err = errors.New("row has no node")
	}
	answer.ID, answer.Name, answer.Dropped = row.ID, row.Name, dropped
	if err != nil {
		answer.outcome = failed("input", err.Error())
		return answer, true
	}
	var features structured.Features
	if err := setFlags(&features, "", spelled(row.Features)); err != nil {
		answer.outcome = failed("input", err.Error())
		return answer, true
	}
	restore, err := forceChannel(row.ForceChannel)
	if err != nil {
		answer.outcome = failed("input", err.Error())
		return answer, true
	}
	defer restore()

	start := time.Now()
	seen := map[string]outcome{}
	goOn := true
	for run := 0; run < max(row.Runs, 1) && goOn; run++ {
		var one outcome
		var calls *int64
		one, answer.Channel, calls, goOn = allocateOnce(&row, features)
		encoded, err := canonical(one)
		if err != nil {
			fail("encode outcome: " + err.Error())
		}
		seen[string(encoded)] = one
		if run == 0 {
			answer.Calls = calls
		} else if answer.Calls != nil && (calls == nil || *calls != *answer.Calls) {
			answer.Calls = nil
		}
		if one.ErrorKind != nil && *one.ErrorKind == "timeout" {
			break // the other runs would take as long
		}
	}
	answer.Seconds = time.Since(start).Seconds()
	keys := make([]string, 0, len(seen))
	for key := range seen {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	answer.outcome = seen[keys[0]]
	if len(keys) > 1 {
		for _, key := range keys {
			answer.Variants = append(answer.Variants, json.RawMessage(key))
		}
	}
	return answer, goOn
}

// canonical sorts the keys, so that equal outcomes are equal texts.
func canonical(value any) ([]byte, error) {
	first, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(first))
	decoder.UseNumber() // integers beyond float64
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// allocateOnce builds a new allocator, because one that is used again may keep caches. The row's objects are copied:
// upstream promises not to change them, and this doesn't rely on it.
func allocateOnce(row *allocationRow, features structured.Features) (result outcome, channel string, calls *int64, goOn bool) {
	timeout := defaultTimeout
	if row.TimeoutSeconds > 0 {
		timeout = time.Duration(row.TimeoutSeconds * float64(time.Second))
	}
	celFeatures := row.CELFeatures
	if celFeatures == nil {
		celFeatures = map[string]bool{"ConsumableCapacity": row.Features["ConsumableCapacity"], "ListTypeAttributes": row.Features["ListTypeAttributes"]}
	}
	cache := celCache(celFeatures)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()

	type made struct {
		outcome
		channel string
		calls   *int64
	}
	done := make(chan made, 1)
	go func() {
		var m made
		defer func() {
			if r := recover(); r != nil {
				m.outcome = failed("panic", fmt.Sprintf("panic: %v", r))
			}
			done <- m
		}()
		allocator, err := structured.NewAllocator(ctx, features, allocatedState(row), classes(row.Classes), copies(row.Slices), cache)
		if err != nil {
			m.outcome = failed("input", err.Error())
			return
		}
		m.channel = channelOf(allocator)
		results, err := allocator.Allocate(ctx, row.Node.DeepCopy(), copies(row.Claims))
		m.calls = callsOf(allocator)
		switch {
		case err == nil:
			renameShares(results)
			m.Results = results
		case isNodeError(err):
			m.outcome = failed("node", err.Error())
		case errors.Is(err, context.DeadlineExceeded):
			m.outcome = failed("timeout", err.Error())
		default:
			m.outcome = failed("fatal", err.Error())
		}
	}()
	select {
	case m := <-done:
		return m.outcome, m.channel, m.calls, true
	case <-time.After(timeout + grace):
		return failed("timeout", "the search ignores its deadline and was abandoned"), "", nil, false
	}
}

func allocatedState(row *allocationRow) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, d := range row.Allocated {
		state.AllocatedDevices.Insert(d.id())
	}
	for _, d := range row.AllocatedShared {
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(structured.MakeDeviceID(d.Driver, d.Pool, d.Device), &d.ShareID))
	}
	for _, d := range row.Consumed {
		state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(structured.MakeDeviceID(d.Driver, d.Pool, d.Device), d.Consumed))
	}
	return state
}

// channelOf names the variant: upstream has one package for each ("stable", "incubating", "experimental").
func channelOf(allocator structured.Allocator) string {
	return path.Base(reflect.TypeOf(allocator).Elem().PkgPath())
}

// callsOf reads the allocator's own count of its steps. The interface with it is internal, hence the reflection.
func callsOf(allocator structured.Allocator) *int64 {
	method := reflect.ValueOf(allocator).MethodByName("GetStats")
	if !method.IsValid() {
		return nil
	}
	stats := method.Call(nil)[0]
	if stats.Kind() == reflect.Pointer { // the stable variant of 1.34 and 1.35 has no count
		return nil
	}
	calls := stats.FieldByName("NumAllocateOneInvocations").Int()
	return &calls
}

// renameShares replaces the random share IDs by share-0, share-1… in order of appearance.
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

func copies[T any, P interface {
	*T
	DeepCopy() *T
}](in []P) []*T {
	out := make([]*T, len(in))
	for i, object := range in {
		out[i] = object.DeepCopy()
	}
	return out
}

// classes lists device classes as upstream's table tests do: their error text is part of the recorded answers.
type classes []*resourceapi.DeviceClass

func (c classes) List() ([]*resourceapi.DeviceClass, error) { return c, nil }

func (c classes) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range c {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{}, "not found")
}

var celCaches = map[cel.Features]*cel.Cache{}

// celCache ignores features that this minor's CEL package doesn't have, as the scheduler of that minor would.
func celCache(flags map[string]bool) *cel.Cache {
	features := celFeatures(flags)
	cache := celCaches[features]
	if cache == nil {
		cache = cel.NewCache(4096, features)
		celCaches[features] = cache
	}
	return cache
}

func celFeatures(flags map[string]bool) cel.Features {
	var features cel.Features
	for name, on := range flags {
		if on {
			_ = setFlags(&features, "Enable", map[string]bool{name: true})
		}
	}
	return features
}
