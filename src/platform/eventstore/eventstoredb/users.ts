import type * as Grpc from '@grpc/grpc-js';
import type { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { abandonAfter } from './deadline.ts';
import { ALREADY_EXISTS, users, UsersClient } from './protocol.ts';

/** Private members of the client, as in `server-methods.ts`. */
interface CallMaker {
  execute<T>(service: typeof UsersClient, name: string, action: (users: UsersClient) => Promise<T>): Promise<T>;
  callArguments(options: { deadline: number }): [Grpc.Metadata, Partial<Grpc.CallOptions>];
}

/**
 * Creates a user without groups, as the administrator of the connection. False if there is one of that name, who keeps
 * the password.
 */
export function createUser(
  connection: Connection,
  { username, password }: { readonly username: string; readonly password: string },
  callMs: number,
): Promise<boolean> {
  const options = new users.CreateReq.Options();
  options.setLoginName(username);
  options.setFullName('Castellan');
  options.setPassword(password);
  const request = new users.CreateReq();
  request.setOptions(options);
  return connection.call((client: Client) => {
    const maker = client as unknown as CallMaker;
    const ask = (service: UsersClient) =>
      new Promise<boolean>((resolve, reject) => {
        const [metadata, callOptions] = maker.callArguments({ deadline: callMs });
        service.create(request, metadata, callOptions, (error) => {
          if (!error) resolve(true);
          else if (error.code === ALREADY_EXISTS) resolve(false);
          else reject(error);
        });
      });
    return abandonAfter(callMs, maker.execute(UsersClient, 'create', ask));
  });
}
