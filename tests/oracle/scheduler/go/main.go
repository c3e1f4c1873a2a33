// The scheduler's own filters and preemption over a snapshot: one JSON line in, one out. See ../client.py for the rows.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

type verdict struct {
	Plugin  string   `json:"plugin"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
}

type answer struct {
	PreFilter *verdict           `json:"preFilter,omitempty"`
	Only      []string           `json:"only,omitempty"`
	Nodes     map[string]verdict `json:"nodes,omitempty"`
	Sentence  string             `json:"sentence,omitempty"`
	Nominated string             `json:"nominated,omitempty"`
	Error     string             `json:"error,omitempty"`
}

func main() {
	klog.InitFlags(nil)
	_ = flag.Set("logtostderr", "false")
	_ = flag.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	metrics.Register()
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
	defer func() {
		if problem := recover(); problem != nil {
			result = answer{Error: fmt.Sprintf("panic: %v", problem)}
		}
	}()
	var asked row
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: err.Error()}
	}
	found, err := judge(asked)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return found
}

// judge does what the queue, findNodesThatFitPod and schedulingAlgorithm of schedule_one.go do, on every node and in order.
func judge(asked row) (answer, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	scheduler, snapshot, err := newScheduler(ctx, asked)
	if err != nil {
		return answer{}, err
	}
	for _, plugin := range scheduler.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(ctx, asked.Pod); !status.IsSuccess() {
			refused := said(status)
			refused.Plugin = plugin.Name()
			return answer{PreFilter: &refused}, nil
		}
	}
	state := framework.NewCycleState()
	diagnosis := framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	only, status, plugins := scheduler.RunPreFilterPlugins(ctx, state, asked.Pod)
	result := answer{}
	if !status.IsSuccess() {
		refused := said(status)
		result.PreFilter = &refused
		if !status.IsRejected() {
			return result, nil
		}
		diagnosis.NodeToStatus.SetAbsentNodesStatus(status)
		diagnosis.PreFilterMsg = status.Message()
		return withPreemption(ctx, scheduler, state, asked, diagnosis, result)
	}
	wanted := sets.New[string]()
	if !only.AllNodes() {
		wanted = only.NodeNames
		result.Only = sets.List(wanted)
		text := fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(plugins))
		diagnosis.NodeToStatus.SetAbsentNodesStatus(fwk.NewStatus(fwk.UnschedulableAndUnresolvable, text))
	}
	result.Nodes = map[string]verdict{}
	fits, failed := false, false
	for _, name := range nodeNames(asked.Nodes) {
		if !only.AllNodes() && !wanted.Has(name) {
			continue
		}
		info, err := snapshot.Get(name)
		if err != nil {
			return answer{}, err
		}
		status := scheduler.RunFilterPluginsWithNominatedPods(ctx, state.Clone(), asked.Pod, info)
		result.Nodes[name] = said(status)
		switch {
		case status.IsSuccess():
			fits = true
		case !status.IsRejected():
			failed = true
		default:
			diagnosis.NodeToStatus.Set(name, status)
		}
	}
	if fits || failed {
		return result, nil
	}
	return withPreemption(ctx, scheduler, state, asked, diagnosis, result)
}

func withPreemption(ctx context.Context, scheduler framework.Framework, state fwk.CycleState, asked row, diagnosis framework.Diagnosis, result answer) (answer, error) {
	chosen, status := scheduler.RunPostFilterPlugins(ctx, state, asked.Pod, diagnosis.NodeToStatus)
	diagnosis.PostFilterMsg = status.Message()
	if chosen != nil && chosen.NominatingInfo != nil {
		result.Nominated = chosen.NominatedNodeName
	}
	result.Sentence = (&framework.FitError{Pod: asked.Pod, NumAllNodes: len(asked.Nodes), Diagnosis: diagnosis}).Error()
	return result, nil
}

func said(status *fwk.Status) verdict {
	if status == nil {
		return verdict{Code: fwk.Success.String()}
	}
	return verdict{Plugin: status.Plugin(), Code: status.Code().String(), Reasons: status.Reasons()}
}

func nodeNames(nodes []*v1.Node) []string {
	var names []string
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	sort.Strings(names)
	return names
}
