// The Go peer of the relay's benchmark, in the style such relays are published in: a socket and a goroutine a direction,
// locked to its thread, ReadFromUDPAddrPort and WriteToUDPAddrPort, buffers made once. Routes as in relay.c.
//
// usage: relay PORT
package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"sync"
)

const (
	header       = 38
	kernelBuffer = 4 << 20
)

type relay struct {
	clients, transceivers *net.UDPConn
	port                  uint16
	lock                  sync.RWMutex
	flows                 map[netip.AddrPort]netip.AddrPort
}

func listen(port int) *net.UDPConn {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		panic(err)
	}
	conn.SetReadBuffer(kernelBuffer)
	conn.SetWriteBuffer(kernelBuffer)
	return conn
}

func digit(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return (c | 32) - 'a' + 10
}

// Where a Binding request's USERNAME leads.
func route(p []byte) (netip.AddrPort, bool) {
	if len(p) < 20 || p[0] != 0 || p[1] != 1 || binary.BigEndian.Uint32(p[4:]) != 0x2112a442 {
		return netip.AddrPort{}, false
	}
	for at := 20; at+4 <= len(p); {
		kind, size := binary.BigEndian.Uint16(p[at:]), int(binary.BigEndian.Uint16(p[at+2:]))
		if at+4+size > len(p) || (kind == 6 && size < 13) {
			break
		}
		if kind == 6 {
			var b [6]byte
			for i := range b {
				b[i] = digit(p[at+4+2*i])<<4 | digit(p[at+5+2*i])
			}
			return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[:4])), binary.BigEndian.Uint16(b[4:])), true
		}
		at += 4 + (size+3)&^3
	}
	return netip.AddrPort{}, false
}

func (r *relay) up() {
	runtime.LockOSThread()
	buf := make([]byte, 2048)
	buf[0], buf[1] = 0x56, 0xec
	buf[28], buf[29], buf[30], buf[33] = 0xff, 0xff, 127, 1
	binary.BigEndian.PutUint16(buf[36:], r.port)
	for {
		n, source, err := r.clients.ReadFromUDPAddrPort(buf[header:])
		if err != nil {
			continue
		}
		r.lock.RLock()
		to, known := r.flows[source]
		r.lock.RUnlock()
		if !known {
			if to, known = route(buf[header : header+n]); !known {
				continue
			}
			r.lock.Lock()
			r.flows[source] = to
			r.lock.Unlock()
		}
		ip := source.Addr().As16()
		copy(buf[2:], ip[:])
		binary.BigEndian.PutUint16(buf[34:], source.Port())
		r.transceivers.WriteToUDPAddrPort(buf[:header+n], to)
	}
}

func (r *relay) down() {
	runtime.LockOSThread()
	buf := make([]byte, 2048)
	for {
		n, source, err := r.transceivers.ReadFromUDPAddrPort(buf)
		if err != nil || n <= header || buf[0] != 0x56 || buf[1] != 0xec {
			continue
		}
		client := netip.AddrPortFrom(netip.AddrFrom16([16]byte(buf[2:18])).Unmap(), binary.BigEndian.Uint16(buf[34:]))
		r.lock.RLock()
		own, known := r.flows[client]
		r.lock.RUnlock()
		if known && own == source {
			r.clients.WriteToUDPAddrPort(buf[header:n], client)
		}
	}
}

func main() {
	port, _ := strconv.Atoi(os.Args[1])
	r := &relay{clients: listen(port), transceivers: listen(0), port: uint16(port), flows: map[netip.AddrPort]netip.AddrPort{}}
	fmt.Println("ready")
	go r.down()
	r.up()
}
