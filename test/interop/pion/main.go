// A WebRTC server of Pion's that knows nothing of relays. It takes one offer from standard input, answers on standard
// output, and gives back what comes: RTP as it is, messages as text. Flags: -port is its one UDP port, -ufrag and -pwd are
// its ICE credentials; without them Pion makes its own.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"

	"github.com/pion/webrtc/v4"
)

func main() {
	port := flag.Int("port", 0, "UDP port on 127.0.0.1")
	ufrag := flag.String("ufrag", "", "ICE ufrag")
	pwd := flag.String("pwd", "", "ICE password")
	flag.Parse()
	offer, err := io.ReadAll(io.LimitReader(os.Stdin, 65536))
	check(err)
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: *port})
	check(err)

	var settings webrtc.SettingEngine
	settings.SetICEUDPMux(webrtc.NewICEUDPMux(nil, socket))
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	if *ufrag != "" {
		settings.SetICECredentials(*ufrag, *pwd)
	}
	var codecs webrtc.MediaEngine
	check(codecs.RegisterDefaultCodecs())
	api := webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(&codecs))
	peer, err := api.NewPeerConnection(webrtc.Configuration{})
	check(err)
	track, err := webrtc.NewTrackLocalStaticRTP(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}, "audio", "echo")
	check(err)
	_, err = peer.AddTrack(track)
	check(err)
	peer.OnTrack(func(remote *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		for {
			packet, _, err := remote.ReadRTP()
			if err != nil {
				return
			}
			packet.Extension = false
			packet.Extensions = nil
			if err := track.WriteRTP(packet); err != nil {
				return
			}
		}
	})
	peer.OnDataChannel(func(channel *webrtc.DataChannel) {
		channel.OnMessage(func(message webrtc.DataChannelMessage) {
			_ = channel.SendText(string(message.Data))
		})
	})
	check(peer.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: string(offer)}))
	answer, err := peer.CreateAnswer(nil)
	check(err)
	gathered := webrtc.GatheringCompletePromise(peer)
	check(peer.SetLocalDescription(answer))
	<-gathered
	fmt.Print(peer.LocalDescription().SDP)
	check(os.Stdout.Close())
	select {}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
