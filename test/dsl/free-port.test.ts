import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { freePort } from './free-port.ts';

describe('ports of servers that tests start', () => {
  it.runIf(process.platform === 'linux')(
    'are given once, and never from those that the system gives to outgoing connections',
    async () => {
      const ports: number[] = [];
      for (let n = 0; n < 50; n += 1) ports.push(await freePort());
      expect(new Set(ports).size).toBe(50);
      const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/).map(Number);
      for (const port of ports) expect(port < range[0]!, `${port} is not in ${range.join(' to ')}`).toBe(true);
    },
  );
});
