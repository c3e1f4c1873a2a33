//go:build !k8s134 && !k8s135 && !k8s136

package main

import (
	"k8s.io/client-go/informers"

	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

func init() {
	newerOptions = append(newerOptions, func(snapshot *internalcache.Snapshot, _ informers.SharedInformerFactory) frameworkruntime.Option {
		return frameworkruntime.WithMutableSnapshotLister(snapshot)
	})
}
