import { isListedAddress } from '../../domain/address-list.ts';
import { type Finding, fault, warning } from '../../domain/doctor/diagnosis.ts';
import type { PublicUrlAnswer } from '../../domain/doctor/facts.ts';
import { judgeCertificates } from '../../domain/doctor/judge-outside.ts';
import { judgeProxy, judgePublicUrl } from '../../domain/doctor/judge-set-up.ts';
import { askBack, askRunning, PortTakenError } from '../../runtime/ask-back.ts';
import { certificateOfPages, OWN_PAGE } from '../examine-gateway.ts';
import { type Check, type CheckInput, checked } from './check.ts';
import { listOf } from './questions.ts';

const WITHIN_MS = 8_000;

/**
 * Sends a request to the public URL, and waits for the same request at HOST and PORT. If it arrives, it shows the proxies between
 * payers and this machine.
 */
export const checkPublicUrl: Check = async (input) => {
  const { PUBLIC_URL: publicUrl = '', HOST: host = '', PORT: port = '' } = input.answers;
  const listening = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const certificate = await certificateFindings(input, publicUrl);
  if (certificate.some(({ level }) => level === 'fault')) return checked(certificate);
  const answer = await ask(input, { publicUrl, host, port: Number(port) });
  if (!('is' in answer)) return checked([answer]);
  const findings = judgePublicUrl(answer, { publicUrl, place: listening, command: 'till init' });
  const said = answer.is === 'here' ? [`A request to ${publicUrl} arrives at ${listening}.`] : [];
  return checked([...findings, ...certificate], said, { publicUrl: answer });
};

export const checkProxy: Check = async ({ answers, seen }) => {
  const trusted = listOf(answers.TRUST_PROXY).map((each) => each.trim());
  return checked(judgeProxy(seen.publicUrl, (peer) => isListedAddress(trusted, peer)));
};

async function ask(
  { context: { world } }: CheckInput,
  where: { readonly publicUrl: string; readonly host: string; readonly port: number },
): Promise<PublicUrlAnswer | Finding> {
  const input = { ...where, timeoutMs: WITHIN_MS };
  try {
    return await askBack(world, input);
  } catch (error) {
    if (error instanceof PortTakenError) return askTaken({ world }, input);
    const { code, message } = error as NodeJS.ErrnoException;
    const remedy = 'Set HOST to an address of this machine, and PORT to one that this account may use.';
    return fault(`Nothing can listen on ${where.host}, port ${where.port} (${code ?? message}).`, remedy);
  }
}

/** Checks the public URL while the port is in use: a running gateway then answers the request in place of the set-up. */
async function askTaken(
  { world }: Pick<CheckInput['context'], 'world'>,
  input: Parameters<typeof askBack>[1],
): Promise<PublicUrlAnswer | Finding> {
  const answer = await askRunning(world, { ...input, path: OWN_PAGE });
  if (answer !== 'no_gateway') return answer;
  return warning(
    `Another program listens on port ${input.port}, so PUBLIC_URL could not be asked back.`,
    'End it or set PORT to a free port, then run `till init` again.',
  );
}

/**
 * Findings about the certificate of the public URL. A certificate that cannot be read is skipped: the later request to the URL
 * reports why.
 */
async function certificateFindings({ context }: CheckInput, publicUrl: string): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { what, read } of certificateOfPages(context, publicUrl)) {
    const certificate = await read().catch(() => undefined);
    if (certificate === undefined) continue;
    const facts = { what, certificate: { known: certificate }, nowMs: context.world.clock.nowMs() };
    found.push(...judgeCertificates([facts]).findings);
  }
  // Only the first finding is returned: an expired certificate, for example, is also reported as one that clients refuse.
  return found.slice(0, 1);
}
