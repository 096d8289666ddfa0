// Call each free operation of a generated client, which decodes strictly. Usage: go run ./jury ORIGIN; a count comes out.
package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"

	client "github.com/GIT_USER_ID/GIT_REPO_ID/client"
)

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	service := reflect.ValueOf(client.NewAPIClient(configuration).FreeAPI)

	called := 0
	for place := 0; place < service.NumMethod(); place++ {
		name := service.Type().Method(place).Name
		if strings.HasSuffix(name, "Execute") {
			continue
		}
		given := []reflect.Value{reflect.ValueOf(context.Background())}
		if service.Method(place).Type().NumIn() == 2 {
			given = append(given, reflect.ValueOf("ETH"))
		}

		ends := service.Method(place).Call(given)[0].MethodByName("Execute").Call(nil)
		if failed := ends[len(ends)-1]; !failed.IsNil() || ends[0].IsNil() {
			fmt.Println(name, failed)
			os.Exit(1)
		}
		called++
	}
	fmt.Println(called)
}
