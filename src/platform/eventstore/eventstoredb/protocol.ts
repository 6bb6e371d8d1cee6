import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import users from '@eventstore/db-client/generated/users_pb.js';

// The messages that the client package ships. They are not part of its public API, so package.json pins its exact
// version. Named imports of the messages pass the type check and fail at run time: hence the default imports.
export { shared, streams, users };
export { ServerFeaturesClient } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
export { UsersClient } from '@eventstore/db-client/generated/users_grpc_pb.js';
export { StreamsClient, StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';

export type BatchAppendReq = InstanceType<typeof streams.BatchAppendReq>;
export type BatchAppendResp = InstanceType<typeof streams.BatchAppendResp>;
export type BatchStatus = NonNullable<ReturnType<BatchAppendResp['getError']>>;

/** Codes of gRPC (and of google.rpc.Status) that this adapter distinguishes. */
export const INVALID_ARGUMENT = 3;
export const ALREADY_EXISTS = 6;
export const UNIMPLEMENTED = 12;
export const UNAVAILABLE = 14;
