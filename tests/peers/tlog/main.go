// Read a published log with Go's own transparency log packages: golang.org/x/mod/sumdb/{note,tlog}.
//
// usage: main LOG_FOLDER PUBLIC_KEY [OLD_CHECKPOINT]
//
// It opens the signed checkpoint, reads every entry, proves each one to be in the tree through tiles that are checked
// against the signed root, and proves that OLD_CHECKPOINT is the beginning of this log.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8

type folder string

func (folder) Height() int { return height }

func (folder) SaveTiles([]tlog.Tile, [][]byte) {}

// ReadTiles maps Go's tile/8/L/N to the tile/L/N that C2SP tlog-tiles serves.
func (root folder) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var found [][]byte
	for _, tile := range tiles {
		data, err := read(string(root), path(tile))
		if err != nil {
			return nil, err
		}
		found = append(found, data[:tile.W*tlog.HashSize])
	}
	return found, nil
}

// read gives a tile; of a partial one that is gone the full one, which begins with it.
func read(root, name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, name))
	if full, _, partial := strings.Cut(name, ".p/"); partial && os.IsNotExist(err) {
		return os.ReadFile(filepath.Join(root, full))
	}
	return data, err
}

func path(tile tlog.Tile) string {
	return strings.Replace(tile.Path(), fmt.Sprintf("tile/%d/", height), "tile/", 1)
}

func head(data []byte, key string) tlog.Tree {
	verifier, err := note.NewVerifier(key)
	check(err)
	opened, err := note.Open(data, note.VerifierList(verifier))
	check(err)
	lines := strings.Split(opened.Text, "\n")
	var size int64
	_, err = fmt.Sscan(lines[1], &size)
	check(err)
	root, err := tlog.ParseHash(lines[2])
	check(err)
	return tlog.Tree{N: size, Hash: root}
}

func entries(root string, size int64) [][]byte {
	var found [][]byte
	for first := int64(0); first < size; first += 256 {
		width := size - first
		if width > 256 {
			width = 256
		}
		tile := tlog.Tile{H: height, L: 0, N: first / 256, W: int(width)}
		name := strings.Replace(path(tile), "tile/0/", "tile/entries/", 1)
		data, err := read(root, name)
		check(err)
		for count := int64(0); count < width && len(data) > 0; count++ {
			length := int(binary.BigEndian.Uint16(data))
			found = append(found, data[2:2+length])
			data = data[2+length:]
		}
	}
	return found
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	root, key := os.Args[1], os.Args[2]
	signed, err := os.ReadFile(filepath.Join(root, "checkpoint"))
	check(err)
	tree := head(signed, key)
	reader := tlog.TileHashReader(tree, folder(root))
	found := entries(root, tree.N)
	if int64(len(found)) != tree.N {
		check(fmt.Errorf("%d entries of %d", len(found), tree.N))
	}
	for number, entry := range found {
		leaf := tlog.RecordHash(entry)
		proof, err := tlog.ProveRecord(tree.N, int64(number), reader)
		check(err)
		check(tlog.CheckRecord(proof, tree.N, tree.Hash, int64(number), leaf))
	}
	if len(os.Args) > 3 {
		earlier, err := os.ReadFile(os.Args[3])
		check(err)
		old := head(earlier, key)
		proof, err := tlog.ProveTree(tree.N, old.N, reader)
		check(err)
		check(tlog.CheckTree(proof, tree.N, tree.Hash, old.N, old.Hash))
	}
	fmt.Printf("%d entries proved\n", tree.N)
}
