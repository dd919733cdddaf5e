import type { TillEvent } from '../../../sdk/src/api-types.ts';
import { type Content, type Html, html } from '../reference/html.ts';
import type { SitePage } from '../site/site-page.ts';
import { type OrderState, PRODUCTS, type Product } from './demo-shop.ts';

/** Seconds after which pages of unfinished payments, and the page of events, reload. */
const REFRESH_S = 2;
const EVENTS_AT = '/demo/events';

export function shopPage(): SitePage {
  return {
    title: 'Demo shop',
    of: 'shop',
    at: '/demo',
    body: html`<div class="hero">
<p class="pill">Sandbox</p>
<h1>Good coffee,<br>paid in a moment.</h1>
<p class="lead">Pick something and pay for it with play money. The payment settles on a chain that runs on this machine, and you can look at it there.</p>
</div>
<ul class="shelf">${PRODUCTS.map(card)}</ul>`,
  };
}

function card({ id, name, text, priceText }: Product): Html {
  return html`<li class="card">
<div class="tile ${id}" aria-hidden="true">${DRAWINGS[id]}</div>
<h2>${name}</h2>
<p>${text}</p>
<form method="post" action="/demo/buy/${id}"><span class="price">${priceText}</span><button type="submit" aria-label="Buy ${name} for ${priceText}">Buy</button></form>
</li>`;
}

/** The page for a payer who returns. It shows the status from the API, because the URL proves nothing. */
export function thanksPage(order: OrderState | undefined, product: Product | undefined): SitePage {
  const goods = product?.name ?? 'your order';
  if (order === undefined) {
    return message('No such order', 'There is no order for this payment.', BACK_TO_SHOP);
  }
  if (order.status === 'succeeded') {
    return message(
      'Thank you!',
      `It is paid. ${product === undefined ? 'Your order' : product.name} is on its imaginary way.`,
      html`${order.info !== null && html`<a class="button" href="/sandbox/tx/${order.info.txId}">See the transaction</a>`}${BACK_TO_SHOP}`,
    );
  }
  if (order.isFinal) {
    return message(
      'The payment has ended',
      `The payment is ${order.status}, so ${goods} stays on the shelf.`,
      BACK_TO_SHOP,
    );
  }
  const page = message('One moment', 'The payment is not through yet. This page checks again by itself.', BACK_TO_SHOP);
  return { ...page, refreshS: REFRESH_S };
}

/** The webhooks that the shop has received. A real shop acts on them: it sends the goods. */
export function eventsPage(events: readonly TillEvent[]): SitePage {
  const none = html`<p class="lead">Nothing yet. Buy something, or run <code>npm run till -- trigger payment.succeeded</code>.</p>`;
  return {
    title: 'Events · Demo shop',
    of: 'shop',
    at: EVENTS_AT,
    refreshS: REFRESH_S,
    body: html`<div class="top"><h1>Events</h1><p class="lead">The webhooks that this shop has got since it was started. The newest comes first.</p></div>
${events.length === 0 ? none : html`<ol class="rows links">${events.map(eventRow)}</ol>`}`,
  };
}

function eventRow({ type, createdAt, sequence, data }: TillEvent): Html {
  const paymentId = 'paymentId' in data ? data.paymentId : type.startsWith('payment.') ? data.id : undefined;
  const link =
    paymentId === undefined ? data.id : html`<a href="/demo/thanks?payment_id=${paymentId}">${paymentId}</a>`;
  return html`<li><strong>${type}</strong><span class="faint">${link} sequence ${sequence}</span><time datetime="${createdAt}">${createdAt.slice(11, 19)}</time></li>`;
}

export function troublePage(text: string): SitePage {
  return message('That did not work', text, BACK_TO_SHOP);
}

function message(title: string, text: string, actions: Content): SitePage {
  return {
    title: `${title} · Demo shop`,
    of: 'shop',
    body: html`<div class="message"><h1>${title}</h1><p class="lead">${text}</p><p class="actions">${actions}</p></div>`,
  };
}

const BACK_TO_SHOP = html`<a class="button quiet" href="/demo">Back to the shop</a>`;

const DRAWINGS: Readonly<Record<string, Html>> = {
  beans: html`<svg viewBox="0 0 160 160"><path d="M50 44h60l8 84a8 8 0 0 1-8 8H50a8 8 0 0 1-8-8z" class="a"/><path d="M52 28h56a4 4 0 0 1 4 4v14H48V32a4 4 0 0 1 4-4z" class="b"/><rect x="60" y="72" width="40" height="40" rx="20" class="c"/><path d="M80 76c-8 10 8 20 0 32" class="line"/></svg>`,
  mug: html`<svg viewBox="0 0 160 160"><path d="M104 64h10a20 20 0 0 1 0 40h-10" class="ring"/><path d="M40 52h66v58a20 20 0 0 1-20 20H60a20 20 0 0 1-20-20z" class="a"/><path d="M40 52h66v20c-22 10-44-8-66 2z" class="b"/><path d="M60 38c-5-6 5-10 0-17M80 38c-5-6 5-10 0-17" class="line"/></svg>`,
  kettle: html`<svg viewBox="0 0 160 160"><path d="M104 60c16-16 26-8 22 8s-8 34-18 44" class="ring"/><path d="M58 104C40 96 36 72 24 62" class="ring"/><path d="M58 58h46l14 66a8 8 0 0 1-8 10H52a8 8 0 0 1-8-10z" class="a"/><path d="M62 46h38l4 12H58z" class="b"/><circle cx="81" cy="40" r="6" class="c"/></svg>`,
};
