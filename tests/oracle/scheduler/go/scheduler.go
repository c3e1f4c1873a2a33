// A scheduler framework with the default profile whose listers read a row.
package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	resourceslicetracker "k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

type row struct {
	Nodes             []*v1.Node                      `json:"nodes"`
	Pods              []*v1.Pod                       `json:"pods"`
	Pod               *v1.Pod                         `json:"pod"`
	Namespaces        []*v1.Namespace                 `json:"namespaces"`
	Claims            []*v1.PersistentVolumeClaim     `json:"persistentVolumeClaims"`
	Volumes           []*v1.PersistentVolume          `json:"persistentVolumes"`
	StorageClasses    []*storagev1.StorageClass       `json:"storageClasses"`
	CSINodes          []*storagev1.CSINode            `json:"csiNodes"`
	CSIDrivers        []*storagev1.CSIDriver          `json:"csiDrivers"`
	StorageCapacities []*storagev1.CSIStorageCapacity `json:"csiStorageCapacities"`
	VolumeAttachments []*storagev1.VolumeAttachment   `json:"volumeAttachments"`
	Budgets           []*policyv1.PodDisruptionBudget `json:"podDisruptionBudgets"`
	DeviceClasses     []*resourcev1.DeviceClass       `json:"deviceClasses"`
	ResourceSlices    []*resourcev1.ResourceSlice     `json:"resourceSlices"`
	ResourceClaims    []*resourcev1.ResourceClaim     `json:"resourceClaims"`
}

// option makes what only some releases have.
type option func(*internalcache.Snapshot, informers.SharedInformerFactory) frameworkruntime.Option

var newerOptions []option

// beforeFill are changes of the informers that only some releases need.
var beforeFill []func(informers.SharedInformerFactory)

func newScheduler(ctx context.Context, asked row) (framework.Framework, *internalcache.Snapshot, error) {
	var placed []*v1.Pod
	nominated := nominator{}
	for _, pod := range asked.Pods {
		if pod.Spec.NodeName != "" {
			placed = append(placed, pod)
		} else if node := pod.Status.NominatedNodeName; node != "" {
			info, err := framework.NewPodInfo(pod)
			if err != nil {
				return nil, nil, err
			}
			nominated[node] = append(nominated[node], info)
		}
	}
	client := fake.NewSimpleClientset(written(asked)...)
	factory := informers.NewSharedInformerFactory(client, 0)
	for _, change := range beforeFill {
		change(factory)
	}
	// The plugins read listers only: the informers' stores are filled here and never started, so nothing runs behind the answer.
	if err := fill(factory, asked); err != nil {
		return nil, nil, err
	}
	devices, err := deviceManager(ctx, factory, asked)
	if err != nil {
		return nil, nil, err
	}
	settings, err := latest.Default()
	if err != nil {
		return nil, nil, err
	}
	snapshot := internalcache.NewSnapshot(placed, asked.Nodes)
	options := []frameworkruntime.Option{
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithSharedDRAManager(devices),
		frameworkruntime.WithPodNominator(nominated),
		frameworkruntime.WithPodActivator(activator{}),
		frameworkruntime.WithEventRecorder(&events.FakeRecorder{}),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
	}
	for _, newer := range newerOptions {
		options = append(options, newer(snapshot, factory))
	}
	scheduler, err := frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), &settings.Profiles[0], options...)
	return scheduler, snapshot, err
}

// written are the objects that an attempt may write to.
func written(asked row) []runtime.Object {
	var found []runtime.Object
	for _, pod := range append([]*v1.Pod{asked.Pod}, asked.Pods...) {
		found = append(found, pod.DeepCopy())
	}
	for _, claim := range asked.ResourceClaims {
		found = append(found, claim.DeepCopy())
	}
	return found
}

func deviceManager(ctx context.Context, factory informers.SharedInformerFactory, asked row) (*dynamicresources.DefaultDRAManager, error) {
	resources := factory.Resource().V1()
	tracker, err := resourceslicetracker.StartTracker(ctx, resourceslicetracker.Options{SliceInformer: resources.ResourceSlices()})
	if err != nil {
		return nil, err
	}
	claims := assumecache.NewAssumeCache(klog.FromContext(ctx), given[*resourcev1.ResourceClaim](asked.ResourceClaims), "ResourceClaim", "", nil)
	manager := dynamicresources.NewDRAManager(ctx, claims, tracker, factory)
	tellClasses(manager, asked.DeviceClasses)
	return manager, nil
}

// given is an informer whose objects have all been seen already.
type given[T any] []T

func (g given[T]) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	for _, object := range g {
		handler.OnAdd(object, true)
	}
	return nil, nil
}

type activator struct{}

func (activator) Activate(klog.Logger, map[string]*v1.Pod) {}

// nominator has the nominated pods by node.
type nominator map[string][]fwk.PodInfo

func (nominator) AddNominatedPod(klog.Logger, fwk.PodInfo, *nominatingInfo) {}
func (nominator) DeleteNominatedPodIfExists(*v1.Pod)                        {}
func (nominator) UpdateNominatedPod(klog.Logger, *v1.Pod, fwk.PodInfo)      {}
func (n nominator) NominatedPodsForNode(node string) []fwk.PodInfo          { return n[node] }

func fill(factory informers.SharedInformerFactory, asked row) error {
	core, storage, resources := factory.Core().V1(), factory.Storage().V1(), factory.Resource().V1()
	for _, err := range []error{
		put(core.Nodes().Informer(), asked.Nodes),
		put(core.Pods().Informer(), append([]*v1.Pod{asked.Pod}, asked.Pods...)),
		put(core.Namespaces().Informer(), asked.Namespaces),
		put(core.PersistentVolumeClaims().Informer(), asked.Claims),
		put(core.PersistentVolumes().Informer(), asked.Volumes),
		put(storage.StorageClasses().Informer(), asked.StorageClasses),
		put(storage.CSINodes().Informer(), asked.CSINodes),
		put(storage.CSIDrivers().Informer(), asked.CSIDrivers),
		put(storage.CSIStorageCapacities().Informer(), asked.StorageCapacities),
		put(storage.VolumeAttachments().Informer(), asked.VolumeAttachments),
		put(factory.Policy().V1().PodDisruptionBudgets().Informer(), asked.Budgets),
		put(resources.DeviceClasses().Informer(), asked.DeviceClasses),
		put(resources.ResourceSlices().Informer(), asked.ResourceSlices),
		put(resources.ResourceClaims().Informer(), asked.ResourceClaims),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func put[T any](informer cache.SharedIndexInformer, objects []T) error {
	for _, object := range objects {
		if err := informer.GetIndexer().Add(object); err != nil {
			return err
		}
	}
	return nil
}
