import { request } from 'node:http';

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const NAVIGATION = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-mode': 'navigate' };

/** As a browser goes to an address, or submits a form there. `fetch` would say that it does not navigate. */
export const navigate = (address: string, form?: Record<string, string>): Promise<Page> =>
  new Promise((resolve, reject) => {
    const posts = form !== undefined;
    const headers = { ...NAVIGATION, ...(posts ? { 'content-type': 'application/x-www-form-urlencoded' } : {}) };
    const asked = request(address, { method: posts ? 'POST' : 'GET', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: new Headers(
            Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
          ),
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    asked.on('error', reject);
    asked.end(posts ? new URLSearchParams(form).toString() : undefined);
  });
