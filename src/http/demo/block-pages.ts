import type { SubjectEvent } from '../../actions/event-subject.ts';
import { tokenText } from '../../chains/amount-text.ts';
import type { Chain } from '../../chains/chain.ts';
import type { Block, ChainEvent, ChainReader } from '../../chains/chain-reader.ts';
import type { Registry } from '../../chains/registry.ts';
import { type Content, type Html, html } from '../reference/html.ts';
import type { SitePage } from '../site/site-page.ts';

const PER_PAGE = 20;
const BLOCKS = '/sandbox/blocks';

/** The page of the blocks, the newest first, from block `newest` downwards if given. */
export async function blocksPage(registry: Registry, reader: ChainReader, newest?: number): Promise<SitePage> {
  const head = await reader.head();
  const last = Math.min(newest ?? head.number, head.number);
  const first = Math.max(0, last - PER_PAGE + 1);
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => last - index);
  const [blocks, events] = await Promise.all([
    Promise.all(numbers.map((number) => reader.block(number))),
    reader.events(first, last),
  ]);
  const rows = blocks.flatMap((block) => (block === undefined ? [] : [blockRow(registry, block, events)]));
  const newer = last < head.number && link(last + PER_PAGE >= head.number ? BLOCKS : from(last + PER_PAGE), 'Newer');
  const older = first > 0 && link(from(first - 1), 'Older');
  return page(
    'Blocks',
    html`<div class="top"><h1>Blocks</h1><p class="lead">The sandbox chain, and what the Collector did in its blocks.</p></div>
<ol class="rows blocks">${rows}</ol>
${(newer !== false || older !== false) && html`<nav class="pages" aria-label="More blocks"><span>${newer}</span><span>${older}</span></nav>`}`,
  );
}

function from(newest: number): string {
  return `${BLOCKS}?newest=${newest}`;
}

function link(href: string, text: string): Html {
  return html`<a class="button quiet" href="${href}">${text}</a>`;
}

function blockRow(registry: Registry, { number, hash, timestampS }: Block, events: readonly ChainEvent[]): Html {
  const own = events.filter((event) => event.block.hash === hash);
  return html`<li><a class="whole" href="${BLOCKS}/${number}"><span class="unseen">Block </span>${number}</a><time>${timeText(timestampS)}</time>
${own.length === 0 ? html`<span class="none faint">No payments</span>` : html`<ul class="events">${own.map((event) => eventLine(registry, event))}</ul>`}</li>`;
}

function eventLine(registry: Registry, event: ChainEvent): Html {
  const text =
    event.type === 'refused'
      ? refusalText(event.reason)
      : `${tokenText(registry, event.asset, event.amount)} ${event.type}`;
  return html`<li><a href="/sandbox/tx/${event.transactionHash}">${text}</a></li>`;
}

/** The page of one block. Undefined if the chain has no such block yet. */
export async function blockPage(
  registry: Registry,
  reader: ChainReader,
  number: number,
  nameOf: EventNamer,
): Promise<SitePage | undefined> {
  const block = await reader.block(number);
  if (block === undefined) return undefined;
  const [events, head] = await Promise.all([reader.events(number, number), reader.head()]);
  const step = (to: number, text: string) => link(`${BLOCKS}/${to}`, text);
  return page(
    `Block ${number}`,
    html`${top(`Block ${number}`)}
${facts({ Time: timeText(block.timestampS), Hash: code(block.hash), Parent: number === 0 ? 'None: the first block' : html`<a href="${BLOCKS}/${number - 1}">${code(block.parentHash)}</a>` })}
<h2>What happened</h2>
${stories(registry, events, nameOf, (event) => html`<p class="faint">Transaction <a href="/sandbox/tx/${event.transactionHash}">${code(event.transactionHash)}</a></p>`)}
<nav class="pages" aria-label="Neighbours"><span>${number < head.number && step(number + 1, 'Newer')}</span><span>${number > 0 && step(number - 1, 'Older')}</span></nav>`,
  );
}

/** The page of a transaction on chain, with the Collector's events as sentences. Undefined for an unknown transaction. */
export async function transactionPage(
  registry: Registry,
  chain: Chain,
  hash: string,
  nameOf: EventNamer,
): Promise<SitePage | undefined> {
  const found = await chain.sender.findTransaction(hash);
  if (found.is === 'unknown') return undefined;
  const title = 'Transaction';
  if (found.is === 'pending') {
    const body = html`${top(title)}${facts({ Hash: code(hash), State: 'Waits for a block' })}`;
    return { ...page(title, body), refreshS: 1 };
  }
  const { number } = found.block;
  const events = (await chain.reader.events(number, number)).filter((event) => event.transactionHash === hash);
  const block = await chain.reader.block(number);
  return page(
    title,
    html`${top(title)}
${facts({
  Hash: code(hash),
  State: found.isReverted ? 'Reverted' : 'Confirmed',
  Block: html`<a href="${BLOCKS}/${number}">${number}</a>`,
  Time: block === undefined ? '' : timeText(block.timestampS),
  'Gas paid': tokenText(registry, chain.network.coin.id, found.coinSpent),
})}
<h2>What happened</h2>
${stories(registry, events, nameOf)}`,
  );
}

function page(title: string, body: Content): SitePage {
  return { title: `${title} · Till sandbox`, of: 'gateway', at: BLOCKS, body };
}

function top(title: string): Html {
  return html`<div class="top"><p class="crumb"><a href="${BLOCKS}">Blocks</a></p><h1>${title}</h1></div>`;
}

/** Finds the id of the payment or transfer that an event is about. Undefined for an event of another gateway. */
export type EventNamer = (event: SubjectEvent) => string | undefined;

function stories(
  registry: Registry,
  events: readonly ChainEvent[],
  nameOf: EventNamer,
  more?: (event: ChainEvent) => Html,
): Content {
  if (events.length === 0) return html`<p class="faint">Nothing that the Collector had a part in.</p>`;
  return events.map(
    (event) => html`<section class="story">${story(registry, event, nameOf)}${more?.(event)}</section>`,
  );
}

function story(registry: Registry, event: ChainEvent, nameOf: EventNamer): Html {
  if (event.type === 'refused') return html`<p>${refusalText(event.reason)}. Nobody was charged for it.</p>`;
  const { recipient, amount, fee, asset } = event;
  const id = nameOf(event);
  const subject = id?.startsWith('pay_') ? html`<a href="/${id}">${id}</a>` : (id ?? 'somebody else');
  return html`<p class="amount">${tokenText(registry, asset, amount)}</p>
<p>${event.type === 'paid' ? 'Paid for' : 'Swept from a deposit address of'} ${subject}. ${event.type === 'paid' && html`${code(event.payer)} signed for it; `}${code(recipient)} received ${tokenText(registry, asset, amount - fee)}${fee > 0n && html`, and ${tokenText(registry, asset, fee)} went to the fee account`}, in one transaction.</p>
<p class="faint">Commitment ${code(event.commitment)}</p>`;
}

function facts(rows: Readonly<Record<string, Content>>): Html {
  return html`<dl class="facts">${Object.entries(rows).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function code(text: string): Html {
  return html`<code>${text}</code>`;
}

function refusalText(reason: string): string {
  return `An item was refused: ${reason.replaceAll('_', ' ')}`;
}

function timeText(timestampS: number): string {
  return `${TIME.format(timestampS * 1000)} UTC`;
}

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
