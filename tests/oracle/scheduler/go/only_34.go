//go:build k8s134

package main

import (
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
)

type nominatingInfo = framework.NominatingInfo

// tellClasses does nothing here: the plugin lists the classes itself.
func tellClasses(*dynamicresources.DefaultDRAManager, []*resourcev1.DeviceClass) {}

// VolumeBinding hears of claims and volumes by events; from 1.35 on it reads the informers' stores.
func init() {
	beforeFill = append(beforeFill, func(factory informers.SharedInformerFactory) {
		indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		factory.InformerFor(&v1.PersistentVolumeClaim{}, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			return filled{coreinformers.NewPersistentVolumeClaimInformer(client, metav1.NamespaceAll, resync, indexers)}
		})
		factory.InformerFor(&v1.PersistentVolume{}, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			return filled{coreinformers.NewPersistentVolumeInformer(client, resync, cache.Indexers{})}
		})
	})
}

// filled is an informer that tells a new listener of all that is in its store, without being started.
type filled struct{ cache.SharedIndexInformer }

func (f filled) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	for _, object := range f.GetIndexer().List() {
		handler.OnAdd(object, true)
	}
	return nil, nil
}
