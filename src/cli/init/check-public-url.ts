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

/** Asks the public URL back, through its proxy. A request that arrives shows the way of a payer's request. */
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

/** A gateway that runs answers for itself. */
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

/** A certificate that cannot be read is left to the question itself, which says why. */
async function certificateFindings({ context }: CheckInput, publicUrl: string): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { what, read } of certificateOfPages(context, publicUrl)) {
    const certificate = await read().catch(() => undefined);
    if (certificate === undefined) continue;
    const facts = { what, certificate: { known: certificate }, nowMs: context.world.clock.nowMs() };
    found.push(...judgeCertificates([facts]).findings);
  }
  // One line: a certificate that has expired is also refused by clients.
  return found.slice(0, 1);
}
