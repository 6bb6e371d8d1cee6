import { setTimeout as sleep } from 'node:timers/promises';
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { grpc, unavailableError, type Grpc } from './client-runtime.ts';
import { endpointName, type Endpoint, type ServerSettings } from './connection-string.ts';

const { LEADER } = gossip.MemberInfo.VNodeState;

export interface LeaderSearch {
  readonly settings: Pick<ServerSettings, 'hosts' | 'maxDiscoverAttempts' | 'discoveryIntervalMs' | 'gossipTimeoutMs'>;
  readonly credentials: Grpc.ChannelCredentials;
  /** The node that failed last. Only used again if no node names another leader. */
  readonly failed: Endpoint | undefined;
  readonly stopped: AbortSignal;
}

/**
 * Asks the nodes for the leader, all at once, so that a node which is switched off causes no delay. (The client's own
 * search asks one node after another, cannot be stopped, and an unreadable member ends the process.)
 */
export async function findLeader(search: LeaderSearch): Promise<Endpoint> {
  const { hosts, maxDiscoverAttempts, discoveryIntervalMs } = search.settings;
  for (let tries = 1; tries <= maxDiscoverAttempts && !search.stopped.aborted; tries += 1) {
    const leader = await askAll(search);
    if (leader) return leader;
    await sleep(discoveryIntervalMs, undefined, { signal: search.stopped }).catch(() => undefined);
  }
  throw unavailableError(`no node reports a leader: ${hosts.map(endpointName).join(', ')}`);
}

async function askAll(search: LeaderSearch): Promise<Endpoint | undefined> {
  const named = search.settings.hosts.map((host) => leaderBy(host, search));
  const isAnother = (leader: Endpoint | undefined) =>
    leader !== undefined && (!search.failed || endpointName(leader) !== endpointName(search.failed));
  const another = named.map(async (answer) => {
    const leader = await answer;
    if (isAnother(leader)) return leader;
    throw unavailableError('the node reports no other leader');
  });
  return Promise.any(another).catch(async () => (await Promise.all(named)).find(Boolean));
}

/** Returns the leader that one node names. Undefined if it names none or does not respond. */
function leaderBy(
  host: Endpoint,
  { credentials, settings: { gossipTimeoutMs } }: LeaderSearch,
): Promise<Endpoint | undefined> {
  return new Promise((resolve) => {
    const client = new GossipClient(endpointName(host), credentials);
    client.read(
      new shared.Empty(),
      new grpc.Metadata(),
      { deadline: Date.now() + gossipTimeoutMs },
      (error, cluster) => {
        client.close();
        resolve(error ? undefined : leaderOf(cluster));
      },
    );
  });
}

function leaderOf(cluster: InstanceType<typeof gossip.ClusterInfo>): Endpoint | undefined {
  const leader = cluster
    .getMembersList()
    .find((member) => member.getIsAlive() && member.getState() === LEADER && member.hasHttpEndPoint());
  const endPoint = leader?.getHttpEndPoint();
  return endPoint && { address: endPoint.getAddress(), port: endPoint.getPort() };
}
