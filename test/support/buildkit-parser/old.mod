module buildkit-parser

go 1.21

require github.com/moby/buildkit v0.8.4-0.20221020190723-eeb7b65ab7d6

require (
	github.com/containerd/typeurl v1.0.1 // indirect
	github.com/docker/docker v20.10.0-beta1.0.20201110211921-af34b94a78a1+incompatible // indirect
	github.com/docker/go-connections v0.4.0 // indirect
	github.com/docker/go-units v0.4.0 // indirect
	github.com/gogo/protobuf v1.3.1 // indirect
	github.com/golang/protobuf v1.4.2 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	google.golang.org/protobuf v1.24.0 // indirect
)
