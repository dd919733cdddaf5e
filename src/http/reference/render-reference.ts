import type { PageAssets } from '../checkout/page-bundle.ts';
import { type Endpoint, type EndpointGroup, groupEndpoints } from './endpoints.ts';
import { serverUrl } from './examples.ts';
import { type Content, type Html, html, prose } from './html.ts';
import { type OpenApiDocument, resolve, type SecurityScheme } from './openapi-document.ts';
import { ORDER_OF_USE } from './order-of-use.ts';
import { methodBadge, renderOperation, schemeLabel } from './render-operation.ts';
import { openPage, type Page, renderSharedSchema, schemaName } from './render-schema.ts';

/**
 * The API reference as one page: nothing inline, nothing from other origins. It can be read without its script, which adds the
 * search, the copy buttons and the field for the reader's own key. The same document gives the same bytes.
 */
export function renderReference(document: OpenApiDocument, assets?: PageAssets): string {
  const page = openPage(document);
  const groups = groupEndpoints(document, ORDER_OF_USE);
  const { title, version, description } = document.info;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · API reference</title>
<link rel="icon" href="/icons/till.svg" type="image/svg+xml">
${assets?.styles.map((path) => html`<link rel="stylesheet" href="${path}">`)}
${assets?.font !== undefined && html`<link rel="preload" href="${assets.font}" as="font" type="font/woff2" crossorigin>`}
${assets?.scripts.map((path) => html`<script type="module" src="${path}"></script>`)}
</head>
<body id="top">
<a class="skip" href="#content">Skip to content</a>
<header class="bar">
<a class="brand" href="/"><img src="/icons/till.svg" alt="" width="24" height="24">${title}</a> <span class="version">API reference</span> <a class="menu" href="#contents">Contents</a>
</header>
${renderNavigation(page, groups)}
<main id="content" tabindex="-1">
<header class="intro">
<h1>API reference</h1>
<p class="facts">Version <code>${version}</code><span class="dot"> · </span>Base URL <code>${serverUrl(document)}</code><span class="dot"> · </span><a href="/openapi.json">OpenAPI document</a></p>
${prose(description)}
<div id="own-key"></div>
</header>
${renderAuthentication(page)}
${groups.map((group) => renderGroup(page, group))}
${renderSchemas(page)}
</main>
</body>
</html>
`.markup;
}

function renderNavigation(page: Page, groups: readonly EndpointGroup[]): Html {
  const lists = groups.map(
    (group) => html`<li><a class="group" href="#${group.anchor}">${group.name}</a>
<ul>${group.endpoints.map(navigationLink)}${
      group.deprecated.length > 0 &&
      html`<li><details class="old"><summary>Deprecated</summary><ul>${group.deprecated.map(navigationLink)}</ul></details></li>`
    }</ul></li>
`,
  );
  const schemas = [...page.schemaAnchors].map(
    ([name, anchor]) => html`<li><a href="#${anchor}"><span class="name">${schemaName(page, name)}</span></a></li>
`,
  );
  return html`<nav id="contents" aria-label="Contents">
<a class="close" href="#top">Close</a>
<div id="search"></div>
<ul>
${page.schemeAnchors.size > 0 && html`<li><a class="group" href="#authentication">Authentication</a></li>`}
${lists}
${schemas.length > 0 && html`<li><a class="group" href="#schemas">Schemas</a><ul>${schemas}</ul></li>`}
</ul>
</nav>`;
}

function navigationLink({ anchor, method, title }: Endpoint): Html {
  return html`<li><a href="#${anchor}"><span class="name">${title}</span> ${methodBadge(method)}</a></li>
`;
}

function renderAuthentication(page: Page): Content {
  if (page.schemeAnchors.size === 0) return undefined;
  const schemes = [...page.schemeAnchors].map(([name, anchor]) => {
    const scheme = resolve<SecurityScheme>(page.document, page.document.components?.securitySchemes?.[name]);
    return html`<div class="field" id="${anchor}">
<dt><code>${schemeLabel(page, name)}</code></dt>
<dd class="kind">${carrierOf(scheme)}</dd>
<dd class="about">${prose(scheme?.description)}</dd>
</div>
`;
  });
  return html`<section class="group" id="authentication" aria-labelledby="authentication_title">
<h2 id="authentication_title"><a href="#authentication">Authentication</a></h2>
<dl class="fields">${schemes}</dl>
</section>
`;
}

function carrierOf(scheme: SecurityScheme | undefined): string {
  if (scheme?.type === 'http') return `header, ${scheme.scheme ?? 'http'}`;
  return scheme?.in ?? scheme?.type ?? '';
}

function renderGroup(page: Page, group: EndpointGroup): Html {
  return html`<section class="group" aria-labelledby="${group.anchor}">
<h2 id="${group.anchor}"><a href="#${group.anchor}">${group.name}</a></h2>
${prose(group.description)}
${group.endpoints.map((endpoint) => renderOperation(page, endpoint))}${
  group.deprecated.length > 0 &&
  html`<details class="old"><summary>${group.deprecated.length} deprecated ${group.deprecated.length === 1 ? 'endpoint' : 'endpoints'}<span class="unseen"> of ${group.name}</span></summary>
${group.deprecated.map((endpoint) => renderOperation(page, endpoint))}</details>`
}</section>
`;
}

function renderSchemas(page: Page): Content {
  if (page.schemaAnchors.size === 0) return undefined;
  const articles = [...page.schemaAnchors].map(
    ([name, anchor]) => html`<article class="schema" id="${anchor}" aria-labelledby="${anchor}_title">
<h3 id="${anchor}_title"><a href="#${anchor}">${schemaName(page, name)}</a></h3>
${prose(page.document.components?.schemas?.[name]?.description)}
${renderSharedSchema(page, name)}
</article>
`,
  );
  return html`<section class="group" aria-labelledby="schemas">
<h2 id="schemas"><a href="#schemas">Schemas</a></h2>
${articles}</section>
`;
}
