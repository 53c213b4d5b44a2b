// Program compose prints a Compose project as `docker compose config` does: read, checked and resolved.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	log.SetFlags(0)
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithOsEnv, cli.WithDefaultProfiles("*"))
	if err != nil {
		log.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	shown, err := project.MarshalYAML()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(shown))
}
