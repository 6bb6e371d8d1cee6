import { startStandIn } from '../../test/fixtures/eventstoredb/stand-in.ts';
import { servePeer } from './peer.ts';

const node = await startStandIn();
/** Measures nothing: returns its port. */
servePeer(async () => node.port);
