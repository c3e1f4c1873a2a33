//go:build !k8s134

package main

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/client-go/informers"
	"k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache"
	fwk "k8s.io/kube-scheduler/framework"

	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

type nominatingInfo = fwk.NominatingInfo

func init() {
	newerOptions = append(newerOptions, func(_ *internalcache.Snapshot, factory informers.SharedInformerFactory) frameworkruntime.Option {
		return frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister()))
	})
}

// tellClasses says which classes there are, as the class informer would; nobody listens while DRAExtendedResource is off.
func tellClasses(manager *dynamicresources.DefaultDRAManager, classes []*resourcev1.DeviceClass) {
	listener, _ := manager.DeviceClassResolver().(*extendedresourcecache.ExtendedResourceCache)
	if listener == nil {
		return
	}
	for _, class := range classes {
		listener.OnAdd(class, true)
	}
}
