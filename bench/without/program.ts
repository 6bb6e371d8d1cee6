import type { Running } from './running.ts';
import type { Workload } from './parts.ts';

const workloads: Readonly<Record<Workload, () => Promise<Running>>> = {
  'append-alone': async () => (await import('./appends.ts')).appends(1, 150),
  'append-32': async () => (await import('./appends.ts')).appends(32, 3_000),
  'append-256': async () => (await import('./appends.ts')).appends(256, 6_000),
  'resolve-alone': async () => (await import('./requests.ts')).resolves(1, 100),
  'resolve-32': async () => (await import('./requests.ts')).resolves(32, 400),
  'read-32': async () => (await import('./requests.ts')).reads(32, 1_500),
  'create-alone': async () => (await import('./requests.ts')).creations(1, 80),
  'create-8': async () => (await import('./requests.ts')).creations(8, 240),
  'rebuild-alerts': async () => (await import('./history.ts')).rebuilds(),
  'verify-here': async () => (await import('./history.ts')).verifications(false),
  'verify-threads': async () => (await import('./history.ts')).verifications(true),
  'read-beside-verify': async () => (await import('./history.ts')).readsBesideVerification(),
  'login-32': async () => (await import('./logins.ts')).logins(32, 96, true),
  'login-unhashed': async () => (await import('./logins.ts')).logins(8, 250, false),
  'busy-device': async () => (await import('./busy-device.ts')).busyDevice(),
};

const running = await workloads[process.argv[2] as Workload]();
process.on('message', (message: 'round' | 'stop') => {
  globalThis.gc?.();
  if (message === 'round') void running.round().then((rate) => process.send!(rate));
  else process.disconnect?.();
});
// The measuring process was stopped: leave no server behind.
process.on('disconnect', () => void running.stop().then(() => process.exit()));
process.send!(0);
