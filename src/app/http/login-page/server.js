/** What the server said. `status` is 0 where it could not be reached. */
export async function ask(method, path, { body, tenantId, token, withCookies } = {}) {
  const headers = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (tenantId) headers['x-tenant-id'] = tenantId;
  if (token) headers['authorization'] = `Bearer ${token}`;
  try {
    const answer = await fetch(path, {
      ...(body === undefined ? { method } : { method, body: JSON.stringify(body) }),
      headers,
      // No cookie signs anybody in: one proves that this browser went to the provider, another that it signed in here before.
      credentials: withCookies ? 'same-origin' : 'omit',
      cache: 'no-store',
      redirect: 'error',
    });
    return {
      status: answer.status,
      body: await answer.json().catch(() => ({})),
      retryAfter: Number(answer.headers.get('retry-after')),
    };
  } catch {
    return { status: 0, body: {}, retryAfter: 0 };
  }
}

export const succeeded = ({ status }) => status >= 200 && status < 300;
