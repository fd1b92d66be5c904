// A do-nothing ext_proc server, the yardstick of the service's own cost: CONTINUE to every message.
package main

import (
	"flag"
	"log"
	"net"

	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
)

type server struct {
	extproc.UnimplementedExternalProcessorServer
}

func (server) Process(stream extproc.ExternalProcessor_ProcessServer) error {
	for {
		request, err := stream.Recv()
		if err != nil {
			// Envoy ends side streams by a reset or a half-close; neither is an error of ours.
			return nil
		}
		if err := stream.Send(answer(request)); err != nil {
			return err
		}
		if _, isBody := request.Request.(*extproc.ProcessingRequest_RequestBody); isBody {
			return nil
		}
	}
}

func answer(request *extproc.ProcessingRequest) *extproc.ProcessingResponse {
	if _, isBody := request.Request.(*extproc.ProcessingRequest_RequestBody); isBody {
		return &extproc.ProcessingResponse{
			Response: &extproc.ProcessingResponse_RequestBody{RequestBody: &extproc.BodyResponse{}},
		}
	}
	return &extproc.ProcessingResponse{
		Response: &extproc.ProcessingResponse_RequestHeaders{RequestHeaders: &extproc.HeadersResponse{}},
	}
}

func main() {
	address := flag.String("listen", "127.0.0.1:0", "host:port")
	flag.Parse()
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	processor := grpc.NewServer(grpc.MaxRecvMsgSize(17 << 20))
	extproc.RegisterExternalProcessorServer(processor, server{})
	log.Fatal(processor.Serve(listener))
}
