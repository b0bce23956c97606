// Allocates in C, as programs in Go do. cases_languages.bash says which functions have rows.
package main

/*
#include <stdlib.h>
#include <string.h>
typedef struct node { struct node *next; char text[100]; } node;
static node *push(node *list, const char *text) {
	node *added = malloc(sizeof *added);
	strncpy(added->text, text, 99);
	added->next = list;
	return added;
}
*/
import "C"
import (
	"fmt"
	"unsafe"
)

type list struct{ head *C.node }

//go:noinline
func (l *list) add(text string) {
	c := C.CString(text)
	defer C.free(unsafe.Pointer(c))
	l.head = C.push(l.head, c)
}

//go:noinline
func leak(n int) unsafe.Pointer { return C.malloc(C.size_t(n)) }

//go:noinline
func table(n int) unsafe.Pointer { return C.calloc(C.size_t(n), 16) }

func main() {
	var l list
	for i := 0; i < 200; i++ {
		l.add(fmt.Sprint("node ", i))
		leak(200)
		table(i + 1)
	}
	done := make(chan bool)
	go func() {
		leak(3000)
		done <- true
	}()
	<-done
}

// SPDX-License-Identifier: MIT
