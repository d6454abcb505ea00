// Makes each call of a file with the generated clients, and writes what they made of the answers.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"

	"clients/mastery"
	"clients/reports"
)

type call struct {
	Key, OperationID, Service, URL, Token string
	// The values of the path's parameters, in their order.
	Path []string
	// Every parameter by its name.
	Named, Body json.RawMessage
}

type made struct {
	Key    string `json:"key"`
	Status int    `json:"status,omitempty"`
	Answer any    `json:"answer,omitempty"`
	Error  string `json:"error,omitempty"`
}

func client(c call) (any, error) {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+c.Token)
		return nil
	}
	if c.Service == "mastery" {
		return mastery.NewClientWithResponses(c.URL, mastery.WithRequestEditorFn(authorize))
	}
	return reports.NewClientWithResponses(c.URL, reports.WithRequestEditorFn(authorize))
}

// decoded returns a value of a type from its JSON.
func decoded(kind reflect.Type, text []byte) (reflect.Value, error) {
	value := reflect.New(kind)
	err := json.Unmarshal(text, value.Interface())
	return value.Elem(), err
}

func makeCall(c call) (result made, err error) {
	result.Key = c.Key
	of, err := client(c)
	if err != nil {
		return
	}
	method := reflect.ValueOf(of).MethodByName(strings.ToUpper(c.OperationID[:1]) + c.OperationID[1:] + "WithResponse")
	arguments := []reflect.Value{reflect.ValueOf(context.Background())}
	// The last parameter is variadic.
	for at := 1; at < method.Type().NumIn()-1; at++ {
		kind := method.Type().In(at)
		text := []byte(c.Body)
		if at <= len(c.Path) {
			text, _ = json.Marshal(c.Path[at-1])
		} else if kind.Kind() == reflect.Pointer {
			text = c.Named
		}
		argument, err := decoded(kind, text)
		if err != nil {
			return result, err
		}
		arguments = append(arguments, argument)
	}
	returned := method.Call(arguments)
	if failure, failed := returned[1].Interface().(error); failed {
		return result, failure
	}
	response := returned[0].Elem()
	result.Status = response.FieldByName("HTTPResponse").Interface().(*http.Response).StatusCode
	for at := range response.NumField() {
		name := response.Type().Field(at).Name
		if strings.HasSuffix(name, fmt.Sprintf("JSON%d", result.Status)) {
			result.Answer = response.Field(at).Interface()
		}
	}
	return
}

func main() {
	var calls []call
	text, err := os.ReadFile(os.Args[1])
	must(err)
	must(json.Unmarshal(text, &calls))
	file, err := os.Create(os.Args[2])
	must(err)
	for _, each := range calls {
		result, failure := makeCall(each)
		if failure != nil {
			result.Error = failure.Error()
		}
		must(json.NewEncoder(file).Encode(result))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
