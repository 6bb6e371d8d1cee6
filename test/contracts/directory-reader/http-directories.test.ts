import { googleServiceAccount } from '../../../src/contexts/directory-sources/domain/google-service-account.ts';
import { EntraReader } from '../../../src/contexts/directory-sources/http/entra-reader.ts';
import { GoogleReader } from '../../../src/contexts/directory-sources/http/google-reader.ts';
import { OktaReader } from '../../../src/contexts/directory-sources/http/okta-reader.ts';
import { destinationFetch, PUBLIC_DESTINATION } from '../../../src/platform/outbound/destinations.ts';
import { NO_PRIVATE_NETWORKS } from '../../../src/platform/outbound/private-networks.ts';
import {
  GOOGLE,
  googleKeyFile,
  GRAPH,
  OKTA_TOKEN,
  startGoogle,
  startGraph,
  startOkta,
} from '../../dsl/directory-peers.ts';
import { directoryReaderContract } from '../directory-reader.contract.ts';

const fetch = destinationFetch({ devMode: true, outboundNetworks: NO_PRIVATE_NETWORKS }, PUBLIC_DESTINATION);

directoryReaderContract('Microsoft Graph', { nests: true }, async (content) => {
  const peer = await startGraph(content);
  const urls = { loginUrl: peer.url, graphUrl: peer.url };
  return {
    open: (clientSecret = GRAPH.clientSecret) => new EntraReader({ ...GRAPH, ...urls, clientSecret }, fetch),
    groupId: async (id) => id,
    close: peer.close,
  };
});

directoryReaderContract('Google Workspace', { nests: true }, async (content) => {
  const peer = await startGoogle(content);
  const account = googleServiceAccount(googleKeyFile(peer.url))!;
  return {
    // Another administrator is what the assertion of a stolen key could name.
    open: (credential) =>
      new GoogleReader(
        { ...GOOGLE, ...(credential ? { adminEmail: 'other@acme.example' } : {}), account, apiUrl: peer.url },
        fetch,
      ),
    groupId: async (id) => id,
    close: peer.close,
  };
});

directoryReaderContract('Okta', { nests: false }, async (content) => {
  const peer = await startOkta(content);
  return {
    open: (apiToken = OKTA_TOKEN) => new OktaReader({ orgUrl: peer.url, apiToken }, fetch),
    groupId: async (id) => id,
    close: peer.close,
  };
});
