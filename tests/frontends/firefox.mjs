// Opens a page in Firefox, searches stars, and runs a query in GraphiQL:
// node firefox.mjs PUPPETEER FIREFOX URL [PICTURE]. Prints the errors of the page that name gqlnb.

import { pathToFileURL } from "node:url";

const [folder, executablePath, url, picture] = process.argv.slice(2);
const { default: puppeteer } = await import(pathToFileURL(`${folder}/lib/esm/puppeteer/puppeteer-core.js`).href);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(60000);
  await page.setViewport({ width: 1280, height: 2400 });
  const report = (text) => /gqlnb/i.test(text) && console.log(text);
  page.on("pageerror", (error) => report(`${error.message} ${error.stack}`));
  page.on("console", (message) => message.type() === "error" && report(message.text()));
  await page.goto(url);
  const stars = ".gqlnb-stars";
  const holds = (selector, text) =>
    document.querySelector(selector)?.textContent.replaceAll("\u00a0", " ").includes(text); // as in editors
  const says = (selector, text) => page.waitForFunction(holds, {}, selector, text);
  await says(".gqlnb table", "build-your-own-x");
  await says(`${stars} .gqlnb-grid`, "public-apis");
  await page.locator(`${stars} ::-p-aria([name="Rows"][role="textbox"])`).fill("2");
  await page.locator(`${stars} ::-p-aria([name="Search"][role="button"])`).click();
  await says(stars, "2 rows in 1 page");
  await says(".gqlnb-schema", "A fixed greeting");
  await page.locator(".gqlnb-explorer .graphiql-execute-button").click();
  await says(".gqlnb-explorer .result-window", "Hello world!");
} finally {
  if (picture) await (await browser.pages()).at(-1).screenshot({ path: picture });
  await browser.close();
}
