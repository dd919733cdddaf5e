import type { Sandbox } from './demo.ts';

/** Printed at the first start: the URLs, and a command to paste. */
export function banner(sandbox: Sandbox, { home, metricsPort }: { home: string; metricsPort: number }): string {
  const { baseUrl, apiKey, merchantId, dashboardUrl, chains } = sandbox;
  const [[network, { rpcUrl }] = ['', { rpcUrl: '' }]] = Object.entries(chains);
  return `
  Till is running, as a sandbox: nothing here is real money.

    Shop       ${baseUrl}/demo  (open it, buy something, pay with play money)
    Dashboard  ${dashboardUrl}
               (signs in once, as the owner of the demo partner)
    API        ${baseUrl}
    Reference  ${baseUrl}/docs
    Metrics    http://127.0.0.1:${metricsPort}/metrics
    Chain      ${rpcUrl}  (${network})
    Merchant   ${merchantId}
    Home       ${home}  (sandbox.json has all of this for programs)

  Try it:

    curl ${baseUrl}/v1/merchants -H 'Api-Key: ${apiKey}'

  Ctrl-C stops it; your data stays.
`;
}
