import { normalizeIP } from '@fastify/rate-limit';

/** `203.0.113.7:50123` and `[2001:db8::7]:50123`: some proxies forward the port too. */
const WITH_PORT = /^(?:\[(?<v6>[^\]]*)\]|(?<v4>\d{1,3}(?:\.\d{1,3}){3}))(?::\d{1,5})?$/;

/** Clients that reset the connection have no address any more. */
const GONE = 'gone';

/** The address without port, so that all connections share one budget. For IPv6, the /64 network. */
export function clientAddress(forwarded: string | undefined): string {
  if (forwarded === undefined) return GONE;
  const { v6, v4 } = WITH_PORT.exec(forwarded.trim())?.groups ?? {};
  return normalizeIP(v6 ?? v4 ?? forwarded.trim());
}
