import { startBenchApp } from '../app.ts';
import { HttpClient } from '../http-client.ts';
import { BelievingPasswords, newAccounts, PASSWORD } from '../login.ts';
import { concurrently, perSecond } from '../measure.ts';
import type { Running } from './running.ts';

const WARM = 2_000;

/** Sign-ins with the right password, which is hashed or accepted without hashing. */
export async function logins(clients: number, count: number, hashed: boolean): Promise<Running> {
  const passwords = new BelievingPasswords();
  const app = await startBenchApp({ passwords });
  const accounts = await newAccounts(app);
  const client = new HttpClient(app.url, clients);
  const headers = { 'content-type': 'application/json', 'x-tenant-id': app.tenantId };
  const signIn = async (n: number) => {
    const body = JSON.stringify({ email: accounts[n % accounts.length]!.email, password: PASSWORD });
    const { status } = await client.send('POST', '/api/v1/auth/login', headers, body);
    if (status !== 200) throw new Error(`not signed in: ${status}`);
  };
  passwords.warming = true;
  await concurrently(8, WARM, signIn);
  passwords.warming = !hashed;
  return {
    round: () => perSecond(count, () => concurrently(clients, count, signIn)),
    stop: async () => {
      client.close();
      await app.stop();
    },
  };
}
