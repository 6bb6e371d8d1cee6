import { startStandIn } from '../../test/fixtures/eventstoredb/stand-in.ts';
import { servePeer } from './peer.ts';

const node = await startStandIn();
/** Measures nothing: its port is the response. */
servePeer(async () => node.port);
