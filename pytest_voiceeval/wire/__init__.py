"""The protocol: protobuf frames and RTVI messages between the bridge and the bots."""
