import { type Content, html } from '../reference/html.ts';

export interface DemoPage {
  readonly title: string;
  readonly body: Content;
  /** Ask again by itself after so many seconds. */
  readonly refreshS?: number | undefined;
}

/** The frame that all pages of the sandbox share. None of them needs a script. */
export function renderDemoPage({ title, body, refreshS }: DemoPage): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
${refreshS !== undefined && html`<meta http-equiv="refresh" content="${refreshS}">`}
<link rel="icon" href="/icons/till.svg" type="image/svg+xml">
<link rel="stylesheet" href="/demo/demo.css">
</head>
<body>
<header class="bar">
<a class="name" href="/demo"><span class="mark" aria-hidden="true"></span>Demo shop</a>
<nav aria-label="Sandbox"><a href="/sandbox/blocks">Blocks</a><a href="/docs">API</a></nav>
</header>
<main>${body}</main>
<footer>A sandbox: the money, the goods and the chain are play things.</footer>
</body>
</html>
`.markup;
}
