// The controllers of cert-manager that sign certificates by an authority of the cluster. The
// programs of cert-manager are not in its Go module, but its controllers are. The argument is the
// namespace with the Secrets of ClusterIssuers.
package main

import (
	"context"
	"log"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/cert-manager/cert-manager/pkg/controller"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/metrics"
)

func main() {
	root := context.Background()
	options := controller.ContextOptions{
		Kubeconfig:         os.Getenv("KUBECONFIG"),
		KubernetesAPIQPS:   50,
		KubernetesAPIBurst: 100,
		Clock:              clock.RealClock{},
		Metrics:            metrics.New(logr.Discard(), clock.RealClock{}),
		IssuerOptions:      controller.IssuerOptions{ClusterResourceNamespace: os.Args[1]},
	}
	factory, err := controller.NewContextFactory(root, options)
	if err != nil {
		log.Fatal(err)
	}
	shared, err := factory.Build()
	if err != nil {
		log.Fatal(err)
	}
	for name, construct := range controller.Known() {
		one, err := construct(factory)
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		go func() { log.Fatalf("%s: %v", name, one.Run(1, root)) }()
	}
	shared.SharedInformerFactory.Start(root.Done())
	shared.KubeSharedInformerFactory.Start(root.Done())
	select {}
}
