import type * as Grpc from '@grpc/grpc-js';
import type { Client } from './client.ts';
import { abandonAfter } from './deadline.ts';
import { ServerFeaturesClient, shared, StreamsService, UNIMPLEMENTED } from './protocol.ts';

/** Private members of the client. Its version is pinned, and tests cover the members used here. */
interface CallMaker {
  execute<T>(
    service: typeof ServerFeaturesClient,
    name: string,
    action: (features: ServerFeaturesClient) => Promise<T>,
  ): Promise<T>;
  callArguments(options: { deadline: number }): [Grpc.Metadata, Partial<Grpc.CallOptions>];
}

/**
 * Whether the server lists the batch call. The client's own request has no deadline, and caches a failure as long as
 * the connection lives, so we send our own. A server before 21.10 does not know the request and counts as listing
 * nothing.
 */
export function listsBatchAppend(client: Client, callMs: number): Promise<boolean> {
  const maker = client as unknown as CallMaker;
  const ask = (features: ServerFeaturesClient) =>
    new Promise<boolean>((resolve, reject) => {
      const [metadata, options] = maker.callArguments({ deadline: callMs });
      features.getSupportedMethods(new shared.Empty(), metadata, options, (error, supported) => {
        if (!error) resolve(supported.getMethodsList().some(isBatchAppend));
        else if (error.code === UNIMPLEMENTED) resolve(false);
        else reject(error);
      });
    });
  return abandonAfter(callMs, maker.execute(ServerFeaturesClient, 'getSupportedMethods', ask));
}

const PATH = StreamsService.batchAppend.path.toLowerCase();

const isBatchAppend = (method: { getServiceName(): string; getMethodName(): string }): boolean =>
  `/${method.getServiceName()}/${method.getMethodName()}`.toLowerCase() === PATH;
