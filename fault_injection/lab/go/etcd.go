// Package main is etcd as etcd's own main package starts it; the pins are in etcd.mod.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
