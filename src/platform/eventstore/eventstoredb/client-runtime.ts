import { createRequire } from 'node:module';
import type * as Grpc from '@grpc/grpc-js';

/**
 * The copy of gRPC that the client uses. It recognizes channels and credentials by their classes, so they must come
 * from the same copy.
 */
export const grpc = createRequire(createRequire(import.meta.url).resolve('@eventstore/db-client/package.json'))(
  '@grpc/grpc-js',
) as typeof Grpc;

export type { Grpc };

/** An error like that of a failed call, for failures before there is a call. */
export const unavailableError = (message: string): Error =>
  Object.assign(new Error(message), { code: grpc.status.UNAVAILABLE });
