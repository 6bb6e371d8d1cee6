import { startStandIn } from '../../test/fixtures/eventstoredb/stand-in.ts';

// The stand-in for EventStoreDB in a separate process, so that it does not share the clients' event loop. It ends with
// its parent.
const node = await startStandIn();
process.on('disconnect', () => process.exit());
process.send!(node.connectionString);
