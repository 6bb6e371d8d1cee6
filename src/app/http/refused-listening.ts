import { ConfigError } from '../../platform/config-error.ts';

/** `HOST` is wrong: a further start would be refused, too. */
export class UnusableHost extends ConfigError {}

/** Colons of an IPv6 address would be mistaken for the port's. */
export const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** What of the settings names the place, by the error code of the machine. */
const OF_THE_PORT: Readonly<Record<string, (setting: string, place: string) => string>> = {
  EADDRINUSE: (setting, place) => `${setting}: another process listens at ${place}; end it, or set another ${setting}`,
  EACCES: (setting, place) =>
    `${setting}: this user may not listen at ${place}; ports below 1024 need a right of their own`,
};
const OF_THE_HOST: Readonly<Record<string, (host: string) => string>> = {
  EADDRNOTAVAIL: (host) => `HOST: this machine does not have the address ${host}`,
  EAFNOSUPPORT: (host) => `HOST: this machine has no addresses of the kind of ${host}`,
  EINVAL: (host) => `HOST: ${host} is not complete: a link-local address needs its interface, as in fe80::1%eth0`,
  ENOTFOUND: (host) => `HOST: the name ${host} has no address`,
};

/** Why the machine does not let us listen, in words for the operator; the error itself if it is of another kind. */
export function refusedListening(error: unknown, setting: string, host: string, port: number): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const place = `${inUrl(host)}:${port}`;
  if (OF_THE_PORT[code]) return new ConfigError(OF_THE_PORT[code](setting, place));
  if (OF_THE_HOST[code]) return new UnusableHost(OF_THE_HOST[code](host));
  // The name may be right.
  return code === 'EAI_AGAIN' ? new ConfigError(`HOST: the name ${host} cannot be looked up now`) : error;
}
