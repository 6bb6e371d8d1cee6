import { normalizeIP } from '@fastify/rate-limit';

/** `203.0.113.7:50123` and `[2001:db8::7]:50123`, as some proxies forward them. */
const WITH_PORT = /^(?:\[(?<v6>[^\]]*)\]|(?<v4>\d{1,3}(?:\.\d{1,3}){3}))(?::\d{1,5})?$/;

/** The address alone: with its port each connection would be a client of its own, with a budget of its own. IPv6: its /64. */
export function clientAddress(forwarded: string): string {
  const { v6, v4 } = WITH_PORT.exec(forwarded.trim())?.groups ?? {};
  return normalizeIP(v6 ?? v4 ?? forwarded.trim());
}
