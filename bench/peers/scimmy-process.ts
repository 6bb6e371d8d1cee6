// A process of its own with SCIMMY and its client, as ours and its client share one. A search among 100,000 users in
// memory blocks its event loop for long, which must not delay ours.
import { HttpClient } from '../http-client.ts';
import { concurrently, perSecond } from '../measure.ts';
import { adding, AT_ONCE, creating, finding, somePeople, timed } from '../provisioning/scim-requests.ts';
import { servePeer } from './peer.ts';
import { startScimmy } from './scimmy.ts';

const GROUP = 'large';
const peer = await startScimmy();
const client = new HttpClient(peer.url, AT_ONCE);
const headers = { authorization: 'Bearer bench', 'content-type': 'application/scim+json' };
let people = somePeople(0);
let add = adding(client, { headers, people }, 0);

const begin = async (users: number, members: number): Promise<number> => {
  people = somePeople(users);
  for (const { id, userName } of people)
    peer.users.set(id, { id, userName, active: true, schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'] });
  const listed = people.slice(0, members).map(({ id: value }) => ({ value }));
  peer.groups.set(GROUP, { id: GROUP, displayName: GROUP, members: listed });
  add = adding(client, { headers, people }, members);
  return people.length;
};

servePeer(async ({ users, members, creates, finds, adds }) => {
  if (creates) return perSecond(creates, () => concurrently(AT_ONCE, creates, creating(client, headers)));
  if (finds) return perSecond(finds, () => timed(finds, finding(client, { headers, people })));
  if (adds) return perSecond(adds, () => timed(adds, add(GROUP)));
  return begin(users!, members!);
});
