// Karpenter's DRA allocator on one new NodeClaim with one instance type: one JSON line in, one out. See ../client.py for the rows.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/scheduling/dynamicresources"
)

const (
	nodePool     = "pool"
	instanceType = "type"
)

type deviceID struct {
	Driver string `json:"driver"`
	Pool   string `json:"pool"`
	Device string `json:"device"`
}

func (id deviceID) key() cloudprovider.DeviceID {
	return cloudprovider.DeviceID{Driver: unique.Make(id.Driver), Pool: unique.Make(id.Pool), Device: unique.Make(id.Device)}
}

type binding struct {
	Attribute string     `json:"attribute"`
	Devices   []deviceID `json:"devices"`
}

type consumed struct {
	deviceID
	Capacity map[resourcev1.QualifiedName]resource.Quantity `json:"capacity"`
}

type row struct {
	ID        string                     `json:"id"`
	Labels    map[string]string          `json:"labels"`
	Template  []resourcev1.ResourceSlice `json:"template"`
	Bindings  []binding                  `json:"bindings"`
	Slices    []resourcev1.ResourceSlice `json:"slices"`
	Allocated []deviceID                 `json:"allocated"`
	Consumed  []consumed                 `json:"consumed"`
	Classes   []resourcev1.DeviceClass   `json:"classes"`
	Claims    []resourcev1.ResourceClaim `json:"claims"`
}

type picked struct {
	deviceID
	Template bool `json:"template"`
}

type answer struct {
	ID      string              `json:"id"`
	Kind    string              `json:"kind"` // allocated, none, refused, timeout, panic, input
	Error   string              `json:"error,omitempty"`
	Devices map[string][]picked `json:"devices,omitempty"`
	Seconds float64             `json:"seconds"`
}

// classes answers the allocator's only question to the API server.
type classes struct {
	client.Client
	known map[string]resourcev1.DeviceClass
}

func (c classes) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	found, ok := c.known[key.Name]
	if !ok {
		return fmt.Errorf("deviceclass %q not found", key.Name)
	}
	target, ok := into.(*resourcev1.DeviceClass)
	if !ok {
		return fmt.Errorf("only device classes are known, not %T", into)
	}
	found.DeepCopyInto(target)
	return nil
}

type nodeClaim struct {
	requirements scheduling.Requirements
	slices       []dynamicresources.ResourceSlice
}

func (n nodeClaim) ID() dynamicresources.NodeClaimID        { return unique.Make("claim") }
func (n nodeClaim) NodeName() string                        { return "" }
func (n nodeClaim) NodePoolID() dynamicresources.NodePoolID { return unique.Make(nodePool) }
func (n nodeClaim) Requirements() scheduling.Requirements   { return n.requirements }
func (n nodeClaim) InstanceTypes() []dynamicresources.InstanceTypeID {
	return []dynamicresources.InstanceTypeID{unique.Make(instanceType)}
}
func (n nodeClaim) ResourceSlices() map[dynamicresources.InstanceTypeID][]dynamicresources.ResourceSlice {
	return map[dynamicresources.InstanceTypeID][]dynamicresources.ResourceSlice{unique.Make(instanceType): n.slices}
}

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if len(line) > 1 {
			text, _ := json.Marshal(respond(line))
			_, _ = output.Write(append(text, '\n'))
			_ = output.Flush()
		}
		if err != nil {
			return
		}
	}
}

func respond(line []byte) (result answer) {
	started := time.Now()
	var asked row
	defer func() {
		if problem := recover(); problem != nil {
			result = answer{Kind: "panic", Error: fmt.Sprint(problem)}
		}
		result.ID, result.Seconds = asked.ID, time.Since(started).Seconds()
	}()
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Kind: "input", Error: err.Error()}
	}
	return judge(asked)
}

func judge(asked row) answer {
	known := classes{known: map[string]resourcev1.DeviceClass{}}
	for _, class := range asked.Classes {
		known.known[class.Name] = class
	}
	inCluster := make([]dynamicresources.ResourceSlice, 0, len(asked.Slices))
	for i := range asked.Slices {
		inCluster = append(inCluster, dynamicresources.NewAPIServerSlice(&asked.Slices[i]))
	}
	held := dynamicresources.AllocatedDeviceState{
		ExclusiveDevices: sets.New[cloudprovider.DeviceID](),
		ConsumedCapacity: map[cloudprovider.DeviceID]map[resourcev1.QualifiedName]resource.Quantity{},
	}
	for _, id := range asked.Allocated {
		held.ExclusiveDevices.Insert(id.key())
	}
	for _, share := range asked.Consumed {
		held.ConsumedCapacity[share.key()] = share.Capacity
	}
	templates := make([]*cloudprovider.ResourceSliceTemplate, 0, len(asked.Template))
	for _, slice := range asked.Template {
		templates = append(templates, templateOf(slice))
	}
	offered := &cloudprovider.InstanceType{Name: instanceType}
	offered.DynamicResources.ResourceSliceTemplates = templates
	for _, bound := range asked.Bindings {
		devices := make([]cloudprovider.DeviceID, 0, len(bound.Devices))
		for _, id := range bound.Devices {
			devices = append(devices, id.key())
		}
		offered.DynamicResources.AttributeBindings = append(offered.DynamicResources.AttributeBindings,
			&cloudprovider.AttributeBinding{Attribute: resourcev1.QualifiedName(bound.Attribute), Devices: devices})
	}
	bindings := dynamicresources.BuildAttributeBindings(map[string][]*cloudprovider.InstanceType{nodePool: {offered}})
	node := nodeClaim{requirements: scheduling.NewRequirements()}
	for key, value := range asked.Labels {
		node.requirements.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, value))
	}
	for _, template := range templates {
		node.slices = append(node.slices, dynamicresources.NewTemplateSlice(template))
	}
	claims := make([]*resourcev1.ResourceClaim, 0, len(asked.Claims))
	for i := range asked.Claims {
		claims = append(claims, &asked.Claims[i])
	}
	allocator := dynamicresources.NewAllocator(inCluster, held, bindings, known, nil)
	began := time.Now()
	result, err := allocator.Allocate(context.Background(), node, claims)
	if err != nil {
		// Past its limit the search says that it found nothing.
		if errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 5*time.Second {
			return answer{Kind: "timeout", Error: err.Error()}
		}
		if strings.HasPrefix(err.Error(), "validating claim") {
			return answer{Kind: "refused", Error: err.Error()}
		}
		return answer{Kind: "none", Error: err.Error()}
	}
	found := answer{Kind: "allocated", Devices: map[string][]picked{}}
	result.Allocation.Commit(context.Background())
	for id, meta := range allocator.ResourceClaimAllocationMetadata() {
		chosen := []picked{}
		for _, device := range meta.Devices[unique.Make(instanceType)] {
			chosen = append(chosen, picked{
				deviceID: deviceID{device.DeviceID.Driver.Value(), device.DeviceID.Pool.Value(), device.DeviceID.Device.Value()},
				Template: device.DeviceID.Template,
			})
		}
		found.Devices[id.Value().Name] = chosen
	}
	return found
}

// templateOf makes what a cloud provider would offer of a slice as its driver would publish it.
func templateOf(slice resourcev1.ResourceSlice) *cloudprovider.ResourceSliceTemplate {
	template := &cloudprovider.ResourceSliceTemplate{
		Driver:         unique.Make(slice.Spec.Driver),
		Pool:           cloudprovider.ResourcePool{Name: unique.Make(slice.Spec.Pool.Name)},
		SharedCounters: slice.Spec.SharedCounters,
	}
	for _, device := range slice.Spec.Devices {
		template.Devices = append(template.Devices, cloudprovider.Device{
			Name:                     unique.Make(device.Name),
			Attributes:               device.Attributes,
			Capacity:                 device.Capacity,
			AllowMultipleAllocations: device.AllowMultipleAllocations != nil && *device.AllowMultipleAllocations,
			ConsumesCounters:         device.ConsumesCounters,
		})
	}
	return template
}
