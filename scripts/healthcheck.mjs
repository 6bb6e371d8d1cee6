// node scripts/healthcheck.mjs Exit code 0 if this process's service is alive, on whatever HOST and PORT it listens.
// `/live` looks at no dependency: while the database is away, a restart would not help.
const ANY = { '0.0.0.0': '127.0.0.1', '::': '::1' };
const { HOST, PORT } = process.env;
const host = ANY[HOST] ?? (HOST || '127.0.0.1');
const at = host.includes(':') ? `[${host}]` : host;
const { ok } = await fetch(`http://${at}:${PORT || 8080}/live`, { signal: AbortSignal.timeout(4_000) });
process.exit(ok ? 0 : 1);
