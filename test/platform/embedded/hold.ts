// Runs an embedded PostgreSQL until it is killed: `hold.ts <data directory>`. Prints its address as one line of JSON.
import { startEmbeddedPostgres } from '../../../src/platform/embedded/postgres.ts';

const server = await startEmbeddedPostgres({ dataDir: process.argv[2]! });
process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)));
process.stdout.write(`${JSON.stringify({ pid: server.pid, connection: server.connection })}\n`);
setInterval(() => undefined, 60_000);
