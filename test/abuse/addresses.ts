/** Loopback source addresses of requests: attackers have many, and limits by address do not stop them. */
export function addresses(network: number): () => string {
  let next = 0;
  return () => {
    next += 1;
    return `127.${network}.${Math.floor(next / 250) % 250}.${1 + (next % 250)}`;
  };
}
