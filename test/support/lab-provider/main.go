// A provider for tests. Its resource is a document of a web server, so that a test can change it
// behind the back of its stack, refuse its deletion, and see what reaches a log.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func main() {
	make := func() provider.Provider { return lab{} }
	options := providerserver.ServeOpts{Address: "quayside.test/quayside/lab"}
	if err := providerserver.Serve(context.Background(), make, options); err != nil {
		log.Fatal(err)
	}
}

type lab struct{}

func (lab) Metadata(_ context.Context, _ provider.MetadataRequest, out *provider.MetadataResponse) {
	out.TypeName = "lab"
}
func (lab) Schema(_ context.Context, _ provider.SchemaRequest, out *provider.SchemaResponse) {
	out.Schema = providerschema.Schema{}
}
func (lab) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}
func (lab) DataSources(context.Context) []func() datasource.DataSource                        { return nil }
func (lab) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return document{} }}
}

type document struct{}

type model struct {
	Url     types.String `tfsdk:"url"`
	Content types.String `tfsdk:"content"`
	Loud    types.Bool   `tfsdk:"loud"`
	Length  types.Int64  `tfsdk:"length"`
}

func (document) Metadata(_ context.Context, _ resource.MetadataRequest, out *resource.MetadataResponse) {
	out.TypeName = "lab_document"
}

func (document) Schema(_ context.Context, _ resource.SchemaRequest, out *resource.SchemaResponse) {
	out.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"url":     schema.StringAttribute{Required: true},
		"content": schema.StringAttribute{Required: true},
		// Warns with the content, as careless providers do.
		"loud":   schema.BoolAttribute{Optional: true},
		"length": schema.Int64Attribute{Computed: true},
	}}
}

func (document) Create(ctx context.Context, in resource.CreateRequest, out *resource.CreateResponse) {
	var planned model
	out.Diagnostics.Append(in.Plan.Get(ctx, &planned)...)
	if planned.Loud.ValueBool() {
		out.Diagnostics.AddWarning("A loud document", "Its content is "+planned.Content.ValueString())
	}
	if _, err := ask(ctx, "PUT", planned.Url.ValueString(), planned.Content.ValueString()); err != nil {
		out.Diagnostics.AddError("The document could not be written", err.Error())
		return
	}
	planned.Length = types.Int64Value(int64(len(planned.Content.ValueString())))
	out.Diagnostics.Append(out.State.Set(ctx, &planned)...)
}

func (document) Read(ctx context.Context, in resource.ReadRequest, out *resource.ReadResponse) {
	var known model
	out.Diagnostics.Append(in.State.Get(ctx, &known)...)
	content, err := ask(ctx, "GET", known.Url.ValueString(), "")
	if err != nil {
		out.Diagnostics.AddError("The document could not be read", err.Error())
		return
	}
	if content == nil {
		out.State.RemoveResource(ctx)
		return
	}
	out.Diagnostics.Append(out.State.SetAttribute(ctx, path.Root("content"), *content)...)
	out.Diagnostics.Append(out.State.SetAttribute(ctx, path.Root("length"), int64(len(*content)))...)
}

func (document) Update(ctx context.Context, in resource.UpdateRequest, out *resource.UpdateResponse) {
	var planned model
	out.Diagnostics.Append(in.Plan.Get(ctx, &planned)...)
	if _, err := ask(ctx, "PUT", planned.Url.ValueString(), planned.Content.ValueString()); err != nil {
		out.Diagnostics.AddError("The document could not be written", err.Error())
		return
	}
	planned.Length = types.Int64Value(int64(len(planned.Content.ValueString())))
	out.Diagnostics.Append(out.State.Set(ctx, &planned)...)
}

func (document) Delete(ctx context.Context, in resource.DeleteRequest, out *resource.DeleteResponse) {
	var known model
	out.Diagnostics.Append(in.State.Get(ctx, &known)...)
	if _, err := ask(ctx, "DELETE", known.Url.ValueString(), ""); err != nil {
		out.Diagnostics.AddError("The document could not be deleted", err.Error())
	}
}

// Returns nil if the document does not exist.
func ask(ctx context.Context, method string, url string, body string) (*string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusNotFound {
		return nil, nil
	}
	text := string(content)
	if response.StatusCode > 299 {
		return nil, fmt.Errorf("%s %s answered %d: %s", method, url, response.StatusCode, text)
	}
	return &text, nil
}
