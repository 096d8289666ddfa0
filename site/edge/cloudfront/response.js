// CloudFront Function, viewer response (cloudfront-js-2.0): the headers that readers see.
//
// The bucket's own Cache-Control says how long an object may be kept by its key, which is for ever. Under the URL that
// the reader asked for it may be newer in a minute. render.py puts the value of each kind of path in here.
const CACHE_CONTROL = 'public, max-age=60, stale-while-revalidate=60, stale-if-error=600';
const POLICY = "default-src 'none'; frame-ancestors 'none'";
const PAGE_POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; " +
  "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function handler(event) {
  const headers = event.response.headers;
  const kind = headers['content-type'];
  const page = kind !== undefined && kind.value.indexOf('text/html') === 0;
  headers['cache-control'] = { value: CACHE_CONTROL };
  headers['vary'] = { value: 'Accept-Encoding' };
  headers['access-control-allow-origin'] = { value: '*' };
  headers['access-control-expose-headers'] = { value: 'PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Generation' };
  headers['x-content-type-options'] = { value: 'nosniff' };
  headers['referrer-policy'] = { value: 'no-referrer' };
  headers['content-security-policy'] = { value: page ? PAGE_POLICY : POLICY };
  const link = linkOf(event.request.uri);
  if (link !== null) headers['link'] = { value: link };
  const generation = generationOf(event.request);
  if (generation !== null) headers['x-generation'] = { value: generation };
  return event.response;
}

// A page names its Markdown twin, and the twin its page (RFC 8288); the key may end with that of an encoding.
function linkOf(uri) {
  const parts = /^(?:\/g\/[0-9]{12})?(\/(?:[a-z0-9-]+\/)*)index\.(html|md)(?:\.br|\.gz)?$/.exec(uri);
  if (parts === null) return null;
  return parts[2] === 'md' ? '<' + parts[1] + '>; rel="canonical"'
    : '<' + parts[1] + 'index.md>; rel="alternate"; type="text/markdown"';
}

// The object's own key tells it, as the request function wrote it; a put-once file has none in its key.
function generationOf(request) {
  const key = /^\/g\/([0-9]{12})\//.exec(request.uri);
  if (key !== null) return key[1];
  const header = request.headers['x-emi-generation'];
  return header !== undefined && /^[0-9]{12}$/.test(header.value) ? header.value : null;
}
